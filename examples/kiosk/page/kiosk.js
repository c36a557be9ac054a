// A chat whose input area is in the state that keymoded reports.
//
// Values flow one way. Keys and fingers send events to keymoded; it decides, and its states come
// back; `draw` shows them. Nothing here changes a state by itself.

import { Capitals } from './capitals.js';
import { BootClock } from './clock.js';
import { addForeignText, addPicture, addText, addVoice, minutes } from './conversation.js';
import { Keymode } from './keymode.js';
import * as panel from './panel.js';
import { Voice } from './voice.js';
import { text, translate } from './words.js';

/** The events that end a voice message and send it; others that end it drop it. */
const KEEPING = ['clickSwitchButton', 'stopTalking'];
/** Milliseconds between two questions whether daemon and bridge live, and for each answer. */
const CHECK = 300;
const ANSWER = 400;

const byId = (id) => document.getElementById(id);
const field = byId('field');

/** What is drawn. A keyboard or Shift of null is unknown. */
const model = { connection: 'connecting', keyboard: null, shift: null, sequence: 0, voice: 'idle', notice: '' };

export const keymode = new Keymode(location.hash.slice(1));
export const voice = new Voice();
export const clock = new BootClock();
const capitals = new Capitals();

// keymoded reports.

keymode.addEventListener('states', ({ detail: { state, changes, missed, now } }) => {
  if (clock.received(now)) clock.measure(() => keymode.state());
  for (const change of changes) {
    if (change.machine === 'shift') correct(capitals.changed(clock.pageTime(change.time), change));
    else if (change.from === 'prepareToRecord') leaveRecording(change.event);
  }
  const { keyboard, shift, sequence } = state;
  // Nothing is recorded by chance: only a change that the page has seen opens the microphone.
  const isKnown = missed === 0 && model.keyboard !== null;
  const isEntered = changes.some((change) => change.to === 'prepareToRecord');
  if (keyboard !== 'prepareToRecord' || missed !== 0) voice.drop();
  else if (isKnown && isEntered && isAttended()) startRecording();
  if (!isKnown) capitals.begin(shift);
  const notice = missed === 0 ? '' : text.missed;
  draw({ connection: 'connected', keyboard, shift, sequence, notice });
});

keymode.addEventListener('lost', ({ detail: reason }) => {
  voice.drop();
  draw({ connection: reason, keyboard: null, shift: null, notice: '' });
});

// The person types and touches.

let isSending = false;

/** Sends an event, but none behind one that waits: it would act when nobody expects it any more. */
async function send(event) {
  if (isSending) return;
  isSending = true;
  const isTaken = await keymode.trigger(event);
  isSending = false;
  if (!isTaken) draw({ notice: text.notSent });
}

byId('switch').onclick = () => send('clickSwitchButton');
byId('more').onclick = () => send('clickMoreButton');
byId('conversation').onclick = ({ target }) => target.closest('button') ?? send('tapBlankArea');
field.onclick = () => model.keyboard === 'editingText' || send('tapTextField');
// Only keymoded's state gives the field the focus, or the Tab key, which means the same as a touch.
field.onmousedown = (event) => model.keyboard === 'editingText' || event.preventDefault();
field.onfocus = () => model.keyboard === 'editingText' || send('tapTextField');
// The key that is bound to clickMoreButton may open a menu of the browser.
document.oncontextmenu = (event) => event.preventDefault();
// A held Enter presses a button once.
document.onkeydown = (event) => {
  if (event.repeat && event.target.closest('button')) event.preventDefault();
};

byId('input').onsubmit = (event) => {
  event.preventDefault();
  if (field.value.trim()) addText(field.value.trim());
  field.value = '';
  places.clear();
};

panel.fill((emoji) => {
  insert(emoji);
  places.clear();
}, addPicture);

// Shift for one letter, and capitals.

/** When the key that types went down, on the page's clock. */
let keyTime = null;
/** What was typed for each of Capitals' letters, and at which place of the field it is. */
const places = new Map();

field.onkeydown = ({ timeStamp }) => {
  keyTime = timeStamp;
};

field.onbeforeinput = (event) => {
  // Other input, such as Backspace or a paste, moves the letters.
  if (event.inputType !== 'insertText' || event.data?.length !== 1) return places.clear();
  const letter = capitals.typed(keyTime ?? event.timeStamp);
  keyTime = null;
  places.set(letter, { place: field.selectionStart, typed: event.data });
  if (!letter.capital) return;
  event.preventDefault();
  insert(upperCase(event.data));
};

/** The capital; the letter itself if its capital is not one letter, as for ß. */
function upperCase(letter) {
  const capital = letter.toLocaleUpperCase();
  return capital.length === letter.length ? capital : letter;
}

function insert(characters) {
  field.setRangeText(characters, field.selectionStart, field.selectionEnd, 'end');
}

/** Mends letters that were typed before the change of Shift that concerns them arrived. */
function correct(letters) {
  for (const letter of letters) {
    const { place, typed } = places.get(letter) ?? {};
    if (typed === undefined) continue;
    field.setRangeText(letter.capital ? upperCase(typed) : typed, place, place + 1, 'preserve');
  }
}

// The microphone.

/** The timer that asks whether daemon and bridge still answer, while there is a recording. */
let check = null;

/** A key on a lock screen or in another window is not meant for this page. */
function isAttended() {
  return document.visibilityState === 'visible' && document.hasFocus();
}

function startRecording() {
  voice.start();
  let told = 0;
  const own = setInterval(async () => {
    // `/state` has told of a change that the stream has not delivered: the stream hangs.
    const isStale = told > model.sequence;
    const answer = await keymode.state(ANSWER);
    if (own !== check) return;
    if (answer && !isStale) told = answer.state.sequence;
    else keymode.reconnect();
  }, CHECK);
  check = own;
}

function leaveRecording(event) {
  if (KEEPING.includes(event)) voice.finish();
  else voice.drop();
}

window.addEventListener('blur', () => voice.drop());
document.addEventListener('visibilitychange', () => isAttended() || voice.drop());

voice.addEventListener('phase', () => {
  if (voice.phase === 'idle' || voice.phase === 'failed') {
    clearInterval(check);
    check = null;
  }
  draw({ voice: voice.phase });
});
voice.addEventListener('progress', ({ detail: { level, seconds } }) => drawProgress(level, seconds));
voice.addEventListener('recorded', ({ detail: { blob, seconds } }) => addVoice(blob, seconds));

// What the person sees.

function draw(news) {
  const before = model.keyboard;
  Object.assign(model, news);
  const { connection, keyboard, shift, notice } = model;
  Object.assign(document.documentElement.dataset, { connection, keyboard, shift, voice: model.voice });
  const isRecording = keyboard === 'prepareToRecord';
  field.readOnly = keyboard !== 'editingText';
  field.hidden = isRecording;
  byId('voice').hidden = !isRecording;
  byId('voice-text').textContent = text.voice[model.voice];
  if (model.voice !== 'recording') drawProgress(0, 0);
  byId('panel').hidden = keyboard !== 'showingPanel';
  byId('more').ariaExpanded = keyboard === 'showingPanel';
  byId('switch').ariaLabel = isRecording ? text.type : text.speak;
  byId('shift').ariaLabel = text.shift[shift ?? 'off'];
  const state = isRecording ? text.voice[model.voice] : text.keyboard[keyboard];
  const parts = [notice || state, shift !== 'off' && text.shift[shift]];
  say(text.connection[connection] ?? parts.filter(Boolean).join(' · '));
  if (keyboard === before) return;
  if (keyboard === 'editingText') field.focus();
  else field.blur();
  if (keyboard === 'showingPanel') panel.focusFirst();
}

function drawProgress(level, seconds) {
  byId('level').value = level;
  byId('voice-time').textContent = minutes(seconds);
}

/** The words to show, of which a screen reader reads each change aloud: only the last of a report. */
let words = '';

function say(newWords) {
  words = newWords;
  queueMicrotask(() => {
    if (byId('status').textContent !== words) byId('status').textContent = words;
  });
}

translate(document);
text.welcome.forEach(addForeignText);
draw({});
keymode.connect();
