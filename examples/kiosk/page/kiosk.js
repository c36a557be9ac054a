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
const model = { connection: 'connecting', keyboard: null, shift: null, sequence: 0, notice: '' };

export const keymode = new Keymode(location.hash.slice(1));
export const voice = new Voice();
export const clock = new BootClock();
const capitals = new Capitals();

// keymoded reports.

keymode.addEventListener('states', ({ detail: { state, changes, missed, now } }) => {
  if (clock.received(now)) clock.measure(() => keymode.state(1000));
  const wasUnknown = model.keyboard === null;
  let enteredRecording = wasUnknown || missed !== 0;
  for (const change of changes) {
    if (change.machine === 'shift') correct(capitals.changed(clock.pageTime(change.time), change));
    else if (change.from === 'prepareToRecord') leaveRecording(change.event);
    else enteredRecording = true;
  }
  if (missed !== 0) voice.drop();
  if (missed !== 0 || wasUnknown) capitals.begin(state.shift);
  const notice = missed === 0 ? '' : text.missed;
  const { keyboard, shift, sequence } = state;
  draw({ connection: 'connected', keyboard, shift, sequence, notice });
  if (enteredRecording && keyboard === 'prepareToRecord' && isAttended()) startRecording();
});

keymode.addEventListener('lost', ({ detail: reason }) => {
  voice.drop();
  draw({ connection: reason, keyboard: null, shift: null, notice: '' });
});

// The person types and touches.

async function send(event) {
  if (!(await keymode.trigger(event))) draw({ notice: text.notSent });
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

byId('input').onsubmit = (event) => {
  event.preventDefault();
  if (field.value.trim()) addText(field.value.trim());
  field.value = '';
  places.clear();
};

panel.fill(insert, addPicture);

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
  insert(event.data.toLocaleUpperCase());
};

function insert(characters) {
  field.setRangeText(characters, field.selectionStart, field.selectionEnd, 'end');
}

/** Mends letters that were typed before the change of Shift that concerns them arrived. */
function correct(letters) {
  for (const letter of letters) {
    const { place, typed } = places.get(letter) ?? {};
    if (typed === undefined) continue;
    field.setRangeText(letter.capital ? typed.toLocaleUpperCase() : typed, place, place + 1, 'preserve');
  }
}

// The microphone.

let check;

/** A key on a lock screen or in another window is not meant for this page. */
function isAttended() {
  return document.visibilityState === 'visible' && document.hasFocus();
}

function startRecording() {
  byId('voice-text').textContent = text.opening;
  byId('voice-time').textContent = minutes(0);
  voice.start();
  clearInterval(check);
  let promised = 0;
  // Without an answer nobody would tell that the state was left.
  check = setInterval(async () => {
    if (!voice.isRecording) return clearInterval(check);
    const answer = await keymode.state(ANSWER);
    // The last answer knew of changes that have not arrived since.
    if (answer && promised <= model.sequence) promised = answer.state.sequence;
    else if (voice.isRecording) keymode.reconnect();
  }, CHECK);
}

function leaveRecording(event) {
  if (KEEPING.includes(event)) voice.finish();
  else voice.drop();
}

window.addEventListener('blur', () => voice.drop());
document.addEventListener('visibilitychange', () => isAttended() || voice.drop());

voice.addEventListener('started', () => {
  byId('voice-text').textContent = text.recording;
});
voice.addEventListener('progress', ({ detail: { level, seconds } }) => {
  byId('level').value = level;
  byId('voice-time').textContent = minutes(seconds);
});
voice.addEventListener('recorded', ({ detail: { blob, seconds } }) => addVoice(blob, seconds));
voice.addEventListener('failed', () => draw({ notice: text.noMicrophone }));

// What the person sees.

function draw(news) {
  const before = model.keyboard;
  Object.assign(model, news);
  const { connection, keyboard, shift, notice } = model;
  Object.assign(document.documentElement.dataset, { connection, keyboard, shift });
  const isRecording = keyboard === 'prepareToRecord';
  field.readOnly = keyboard !== 'editingText';
  field.hidden = isRecording;
  byId('voice').hidden = !isRecording;
  byId('panel').hidden = keyboard !== 'showingPanel';
  byId('more').ariaExpanded = keyboard === 'showingPanel';
  byId('switch').ariaLabel = isRecording ? text.type : text.speak;
  byId('shift').ariaLabel = text.shift[shift ?? 'off'];
  const words = [notice || text.keyboard[keyboard], shift !== 'off' && text.shift[shift]];
  say(text.connection[connection] ?? words.filter(Boolean).join(' · '));
  if (keyboard === before) return;
  if (keyboard === 'editingText') field.focus();
  else field.blur();
  if (keyboard === 'showingPanel') panel.focusFirst();
}

/** A screen reader reads this aloud whenever it is set, so it is set only when it changes. */
function say(words) {
  if (byId('status').textContent !== words) byId('status').textContent = words;
}

translate(document);
text.welcome.forEach(addForeignText);
draw({});
keymode.connect();
