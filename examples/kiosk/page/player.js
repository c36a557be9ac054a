// A voice message that can be heard: its waveform, how far it has played, and seeking.

import { text } from './words.js';

const BARS = 32;
const SHAPES = { play: 'M8 5v14l11-7z', pause: 'M7 5h3.500v14H7zM13.500 5H17v14h-3.500z' };
const SVG = 'http://www.w3.org/2000/svg';

/** A time such as 0:07. */
export function minutes(seconds) {
  const whole = Math.floor(seconds);
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')}`;
}

/** An element with a message, which has its `sound`. */
export function player({ blob, seconds, levels }) {
  const sound = new Audio(URL.createObjectURL(blob));
  const button = document.createElement('button');
  const seek = document.createElement('input');
  const time = document.createElement('time');
  const waves = [waveform(levels), waveform(levels)];
  const wave = element('div', 'wave', ...waves, seek);
  button.type = 'button';
  button.onclick = () => (sound.paused ? sound.play() : sound.pause());
  waves[1].classList.add('played');
  // The browser does not know the length of what it has recorded.
  Object.assign(seek, { type: 'range', min: 0, max: seconds, step: 'any', value: 0, ariaLabel: text.position });
  seek.oninput = () => {
    sound.currentTime = Number(seek.value);
    show();
  };

  function show() {
    const isEnded = sound.ended || (sound.paused && sound.currentTime === 0);
    const at = isEnded ? 0 : Math.min(sound.currentTime, seconds);
    seek.value = at;
    seek.setAttribute('aria-valuetext', minutes(at));
    wave.style.setProperty('--played', `${(100 * at) / seconds}%`);
    time.textContent = minutes(isEnded ? seconds : at);
    button.ariaLabel = `${sound.paused ? text.play : text.pause}: ${text.voiceMessage}, ${minutes(seconds)}`;
    button.replaceChildren(icon(sound.paused ? SHAPES.play : SHAPES.pause));
  }

  for (const kind of ['play', 'pause', 'timeupdate', 'seeked', 'ended']) sound.addEventListener(kind, show);
  show();
  return Object.assign(element('div', 'player', button, wave, time), { sound });
}

function waveform(levels) {
  const share = levels.length / BARS;
  const bars = Array.from({ length: BARS }, (_, bar) => {
    const part = levels.slice(Math.floor(bar * share), Math.max(Math.ceil((bar + 1) * share), 1));
    const height = Math.max(8, 100 * Math.max(0, ...part));
    return `M${2 * bar} ${50 - height / 2}v${height}`;
  });
  const drawn = icon(bars.join(''));
  drawn.setAttribute('viewBox', `-0.5 0 ${2 * BARS} 100`);
  drawn.setAttribute('preserveAspectRatio', 'none');
  return drawn;
}

function icon(shape) {
  const drawn = document.createElementNS(SVG, 'svg');
  const path = document.createElementNS(SVG, 'path');
  drawn.setAttribute('viewBox', '0 0 24 24');
  drawn.ariaHidden = 'true';
  path.setAttribute('d', shape);
  drawn.append(path);
  return drawn;
}

function element(name, kind, ...content) {
  const made = document.createElement(name);
  made.className = kind;
  made.append(...content);
  return made;
}
