// The messages, with their times and what became of them.

import { player } from './player.js';
import { locale, text } from './words.js';

/** More messages than this are forgotten, so that a kiosk can run for months. */
const KEPT = 100;
/** Milliseconds without progress after which a message does not play any more, as where the sound device hangs. */
const STALLED = 2000;

const list = document.querySelector('#messages');
let lastDay = '';
/** When a voice message has progressed. */
let lastHeard = 0;

// Each of these returns what tells the visitor of the message's `state`, and of the `answer` to it.

/** Adds what the person at the keyboard wrote. */
export function addText(words) {
  return add('own', paragraph(words));
}

/** Adds one of the panel's pictures, by its name. */
export function addPicture(name) {
  return add('own picture', picture(name));
}

/** Adds a voice message. */
export function addVoice(message) {
  const heard = player(message);
  heard.sound.onplay = () => sounds().forEach((sound) => sound === heard.sound || sound.pause());
  heard.sound.ontimeupdate = () => {
    lastHeard = performance.now();
  };
  return add('own voice', heard);
}

/** An image of one of the panel's pictures. */
export function picture(name) {
  const image = new Image(96, 96);
  image.src = `pictures/${name}.svg`;
  image.alt = text.pictures[name];
  return image;
}

/** Forgets all messages, and begins anew. */
export function clear() {
  [...list.children].forEach(forget);
  lastDay = '';
  for (const words of text.welcome) append('foreign', paragraph(words));
}

/** Whether a voice message is heard. */
export function isPlaying() {
  return sounds().some((sound) => !sound.paused) && performance.now() - lastHeard < STALLED;
}

function sounds() {
  return [...list.querySelectorAll('.player')].map(({ sound }) => sound);
}

function add(kind, content) {
  const now = new Date();
  const day = now.toLocaleDateString(locale, { weekday: 'long', day: 'numeric', month: 'long' });
  if (day !== lastDay) append('day', day);
  lastDay = day;
  const time = document.createElement('time');
  time.dateTime = now.toISOString();
  time.textContent = now.toLocaleTimeString(locale, { hour: 'numeric', minute: '2-digit' });
  const state = document.createElement('span');
  const about = document.createElement('small');
  about.append(time, state);
  const message = append(kind, content, about);
  return ({ state: news, answer }) => {
    message.dataset.state = news;
    // Nothing is said of one that the bridge does not know any more.
    state.textContent = news in text.delivery ? ` · ${text.delivery[news]}` : '';
    if (answer) add('foreign', paragraph(answer));
  };
}

function append(kind, ...content) {
  const message = document.createElement('li');
  message.className = kind;
  message.append(...content);
  list.append(message);
  if (list.children.length > KEPT) forget(list.firstElementChild);
  list.closest('main').scrollTop = 0;
  return message;
}

function forget(message) {
  const sound = message.querySelector('.player')?.sound;
  if (sound) {
    sound.pause();
    URL.revokeObjectURL(sound.src);
    sound.removeAttribute('src');
    sound.load();
  }
  message.remove();
}

function paragraph(words) {
  const element = document.createElement('p');
  element.textContent = words;
  return element;
}
