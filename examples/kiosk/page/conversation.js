// The messages. A program of yours would send them to somebody: see `add`.

import { text } from './words.js';

/** More messages than this are forgotten, so that a kiosk can run for months. */
const KEPT = 100;

const list = document.querySelector('#messages');

/** Adds what the person at the keyboard wrote. */
export function addText(words) {
  add('own', paragraph(words));
}

/** Adds one of the panel's pictures, by its name. */
export function addPicture(name) {
  add('own picture', picture(name));
}

/** Adds a voice message. */
export function addVoice({ blob, seconds }) {
  const sound = new Audio(URL.createObjectURL(blob));
  const play = document.createElement('button');
  play.type = 'button';
  play.className = 'play';
  play.ariaLabel = `${text.play}: ${text.voiceMessage}, ${minutes(seconds)}`;
  play.textContent = `▶ ${minutes(seconds)}`;
  play.onclick = () => (sound.paused ? sound.play() : sound.pause());
  add('own voice', play).sound = sound;
}

/** Adds what others wrote. */
function addForeignText(words) {
  add('foreign', paragraph(words));
}

/** An image of one of the panel's pictures. */
export function picture(name) {
  const image = new Image(96, 96);
  image.src = `pictures/${name}.svg`;
  image.alt = text.pictures[name];
  return image;
}

/** A time such as 0:07. */
export function minutes(seconds) {
  const whole = Math.floor(seconds);
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')}`;
}

function add(kind, content) {
  const message = document.createElement('li');
  message.className = kind;
  message.append(content);
  list.append(message);
  if (list.children.length > KEPT) forget(list.firstElementChild);
  list.closest('main').scrollTop = 0;
  return message;
}

/** Forgets all messages, and begins anew. */
export function clear() {
  [...list.children].forEach(forget);
  text.welcome.forEach(addForeignText);
}

/** Whether a voice message is heard. */
export function isPlaying() {
  return [...list.children].some(({ sound }) => sound && !sound.paused);
}

function forget(message) {
  if (message.sound) {
    message.sound.pause();
    URL.revokeObjectURL(message.sound.src);
    message.sound.removeAttribute('src');
    message.sound.load();
  }
  message.remove();
}

function paragraph(words) {
  const element = document.createElement('p');
  element.textContent = words;
  return element;
}
