// A chat whose input area is in the state that keymoded reports.
//
// Values flow one way. Keys and fingers send events to keymoded; it decides, and its states come
// back; `draw` shows them. Nothing here changes a state by itself.

import { Capitals } from './capitals.js';
import { BootClock } from './clock.js';
import { addPicture, addText, addVoice, clear, isPlaying } from './conversation.js';
import { Delivery } from './delivery.js';
import * as fallback from './fallback.js';
import { Keymode } from './keymode.js';
import * as panel from './panel.js';
import { minutes } from './player.js';
import { holdable } from './press.js';
import { Visit } from './visit.js';
import { Voice } from './voice.js';
import { text, translate } from './words.js';

/** The events that end a voice message and send it; others that end it drop it. */
const KEEPING = ['clickSwitchButton', 'stopTalking'];
/** Milliseconds without the bridge after which the kiosk is out of order. */
const PATIENCE = 10_000;
/** Milliseconds for which a discarded message can be brought back. */
const UNDO = 5000;
/** Milliseconds between two questions whether daemon and bridge live, and for each answer. */
const CHECK = 300;
const ANSWER = 400;

const byId = (id) => document.getElementById(id);
const field = byId('field');

/**
 * What is drawn. A keyboard or Shift of null is unknown. A voice message is `discarded` while Undo can bring it back,
 * and then a `draft`.
 */
const model = {
  connection: 'connecting', outage: '', reason: '', keyboard: null, shift: null, sequence: 0,
  voice: 'idle', discarded: null, draft: null, notice: '',
};

export const keymode = new Keymode(location.hash.slice(1));
export const voice = new Voice();
export const clock = new BootClock();
const delivery = new Delivery(keymode);
const capitals = new Capitals();
export const visit = new Visit(() => voice.phase === 'recording' || isPlaying());

// keymoded reports.

keymode.addEventListener('states', ({ detail: { state, changes, missed, restarted, now } }) => {
  if (clock.received(now)) clock.measure(() => keymode.state());
  const isOpening = voice.phase === 'opening';
  for (const change of changes) {
    if (change.machine === 'shift') correct(capitals.changed(clock.pageTime(change.time), change));
    else if (change.from === 'prepareToRecord') leaveRecording(change);
  }
  const { sequence, states: { keyboard, shift } } = state;
  const isGapless = missed === 0 && !restarted;
  if (changes.length > 0) sending = null;
  // Nothing is recorded by chance: only a change that the page has seen opens the microphone.
  const isKnown = isGapless && model.connection === 'connected';
  const isEntered = changes.some((change) => change.to === 'prepareToRecord' && change.sequence > discardedUntil);
  if (keyboard !== 'prepareToRecord' || !isGapless) voice.drop();
  else if (isKnown && isEntered && isAttended()) startRecording();
  if (!isKnown) capitals.begin(shift);
  // A key that only keymoded sees, or what an earlier page has left.
  if (!isResting && (keyboard !== 'prepareToEditText' || shift !== 'off')) visit.goOn();
  const notice = isOpening && keyboard !== 'prepareToRecord' ? text.tooShort : '';
  clearTimeout(outageGrows);
  draw({ connection: 'connected', outage: '', keyboard, shift, sequence, notice });
});

keymode.addEventListener('settings', ({ detail: { idle, delivers } }) => {
  visit.idle = idle;
  isDelivering = delivers;
});

let outageGrows;

/** It comes again and again until the connection is back. Meanwhile fingers do what they can. */
keymode.addEventListener('lost', ({ detail: { connection, reason } }) => {
  const isNew = model.connection === 'connected' || model.connection === 'connecting';
  if (isNew) {
    voice.drop();
    discardedUntil = -1;
    sending = null;
    draw({ keyboard: fallback.begin(model.keyboard), shift: null, notice: '' });
  }
  if (isNew || connection !== model.connection) clearTimeout(outageGrows);
  if (connection === 'bridge' && connection !== model.connection) {
    outageGrows = setTimeout(() => draw({ outage: 'all' }), PATIENCE);
  }
  const isAll = connection === 'refused' || (connection === 'bridge' && model.outage === 'all');
  const outage = isAll ? 'all' : 'fingers';
  draw({ connection, reason, outage });
});

// The person types and touches.

/** The event that keymoded has not answered, and that has not acted. */
let sending = null;

/**
 * Sends an event, and returns the state after it. None is sent behind one that waits, as it would act when nobody
 * expects it any more; unless it `waits`, because it ends something.
 */
async function send(event, waits = false) {
  if (model.connection !== 'connected') return actAlone(event);
  if (sending && !waits) return model;
  while (sending) await sending;
  const own = keymode.trigger(event);
  sending = own;
  const answer = await own;
  if (sending === own) sending = null;
  if (!answer && model.connection === 'connected') draw({ outage: 'keys', reason: keymode.complaint });
  return answer ? { ...answer.states, sequence: answer.sequence } : model;
}

/** Does without keymoded what an event of a finger means. */
function actAlone(event) {
  const { keyboard } = model;
  if (keyboard === null) return model;
  const next = fallback.next(keyboard, event);
  if (next === keyboard) return model;
  if (keyboard === 'prepareToRecord') leaveRecording({ event, sequence: Infinity });
  draw({ keyboard: next });
  if (next === 'prepareToRecord' && isAttended()) startRecording();
  return model;
}

byId('more').onclick = () => send('clickMoreButton');
byId('conversation').onclick = ({ target }) => target.closest('button, input') ?? send('tapBlankArea');
field.onclick = () => model.keyboard === 'editingText' || send('tapTextField');
// Only keymoded's state gives the field the focus, or the Tab key, which means the same as a touch.
field.onmousedown = (event) => model.keyboard === 'editingText' || event.preventDefault();
field.onfocus = () => model.keyboard === 'editingText' || send('tapTextField');
// The key that is bound to clickMoreButton may open a menu of the browser.
document.oncontextmenu = (event) => event.preventDefault();
// A held Enter presses a button once.
document.onkeydown = (event) => {
  const { key, repeat, target, shiftKey, ctrlKey } = event;
  const isOnButton = target.closest('button, input') !== null;
  if (repeat && isOnButton) event.preventDefault();
  if (repeat || event.isComposing) return;
  if (key === 'Enter' && !isOnButton && !shiftKey) byId('input').requestSubmit();
  else if (key === 'Escape' && (isSpeaking() || model.draft)) end(false);
  else if (key === 'z' && ctrlKey && model.discarded) undo();
  else return;
  event.preventDefault();
};

byId('input').onsubmit = (event) => {
  event.preventDefault();
  const words = field.value.trim();
  if (isSpeaking() || (model.draft && !words)) return end(true);
  if (words) deliver(addText(words), { text: words });
  field.value = '';
  places.clear();
  edited();
};

field.oninput = edited;
window.addEventListener('resize', fit);

function edited() {
  fit();
  draw({});
}

/** Gives the field the height of its text. */
function fit() {
  field.style.height = '';
  if (!field.hidden) field.style.height = `${field.scrollHeight + 2}px`;
}

panel.fill((emoji) => {
  insert(emoji);
  places.clear();
}, (name) => deliver(addPicture(name), { picture: name }));

/** Whether the operator has a program for the messages. */
let isDelivering = false;

/** Hands what the visitor has sent to the operator's program; `tell` shows what becomes of it. */
function deliver(tell, content) {
  const time = new Date().toISOString();
  const make = (id) => JSON.stringify({ id, time, ...content });
  if (isDelivering) delivery.send('application/json', make, tell);
}

function sendVoice(message) {
  const tell = message.isForgotten ? null : addVoice(message);
  if (isDelivering) delivery.send(message.blob.type, () => message.blob, tell);
}

// The next visitor finds nothing of this one.

for (const kind of ['pointerdown', 'wheel', 'keydown']) {
  window.addEventListener(kind, (event) => {
    const isAnswer = event.target instanceof Element && event.target.closest('#asking-done');
    if (visit.isAsking && (isAnswer || event.key === 'Tab')) return;
    // What only says that somebody is there does nothing else.
    if (visit.isAsking && kind === 'keydown') {
      event.preventDefault();
      event.stopPropagation();
    }
    visit.goOn();
  }, { capture: true, passive: kind === 'wheel' });
}
byId('done').onclick = () => visit.end();
byId('asking-done').onclick = () => visit.end();
// A screen reader clicks without a pointer or key.
byId('asking-go-on').onclick = () => visit.goOn();
// What a finger touches while text is edited takes the focus from the field, and the next letters would be lost.
document.addEventListener('click', ({ detail }) => {
  if (detail > 0 && model.keyboard === 'editingText' && !field.hidden) field.focus();
});
byId('asking').oncancel = () => visit.goOn();

// The clipboard outlives the visit.
for (const kind of ['copy', 'cut', 'paste', 'dragstart', 'drop']) {
  document.addEventListener(kind, (event) => event.preventDefault());
}

visit.addEventListener('asking', ({ detail: left }) => {
  if (left === null) return byId('asking').close();
  byId('asking-left').textContent = `${left} s`;
  if (!byId('asking').open) byId('asking').showModal();
});

visit.addEventListener('ended', () => {
  // Sent, but keymoded has not answered.
  if (isSending) voice.finish();
  isSending = false;
  voice.forget();
  delivery.forget();
  clearTimeout(undoEnds);
  field.value = '';
  places.clear();
  getSelection().removeAllRanges();
  clear();
  for (const each of [byId('conversation'), byId('panel')]) each.scrollTop = 0;
  draw({ discarded: null, draft: null, notice: '' });
  edited();
  rest();
});

/** What leads each state nearer to rest. */
const REST = {
  prepareToRecord: 'clickSwitchButton',
  editingText: 'tapBlankArea',
  showingPanel: 'tapBlankArea',
  on: 'characterTyped',
  capsLock: 'shiftPressed',
};

let isResting = false;

async function rest() {
  isResting = true;
  let state = model;
  for (let tries = 0; tries < 6; tries += 1) {
    const event = REST[state.keyboard] ?? REST[state.shift];
    if (event) state = await send(event, true);
  }
  isResting = false;
}

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
  edited();
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
  draw({ discarded: null });
  voice.start();
  let told = 0;
  const own = setInterval(async () => {
    if (model.connection !== 'connected') return;
    // `/state` has told of a change that the stream has not delivered: the stream hangs.
    const isStale = told > model.sequence;
    const answer = await keymode.state(ANSWER);
    if (own !== check) return;
    if (answer && !isStale) told = answer.state.sequence;
    else keymode.reconnect();
  }, CHECK);
  check = own;
}

/** The changes up to this one belong to a message that was discarded. */
let discardedUntil = -1;

function leaveRecording({ event, sequence }) {
  if (KEEPING.includes(event) && sequence > discardedUntil) voice.finish();
  else voice.drop();
}

/** Whether the input area has a voice message in place of the field. */
function isSpeaking() {
  return model.keyboard === 'prepareToRecord';
}

function isRunning() {
  return voice.phase === 'opening' || voice.phase === 'recording';
}

/** Sends or discards the voice message that is spoken, or the one that Undo has brought back. */
function end(isSent) {
  if (!model.draft || isRunning()) return endVoice(isSent);
  endDraft(isSent);
}

function endDraft(isSent) {
  const { draft } = model;
  draw({ draft: null });
  if (isSent) sendVoice(draft);
  else discard(draft);
}

/** The visitor has sent the voice message, which ends as soon as keymoded says so. */
let isSending = false;

/** Sends the voice message that is spoken, or discards it at once. */
async function endVoice(isSent, answer = model) {
  let state = answer.sequence > model.sequence ? answer : model;
  if (isSent) {
    const isLeft = state.keyboard !== 'prepareToRecord' || state.sequence <= discardedUntil;
    if (isLeft) return;
    isSending = true;
    await send('clickSwitchButton', true);
    isSending = false;
    return;
  }
  voice.drop();
  discardedUntil = Infinity;
  // A key may have left the state by itself, as Esc does in some tables, and the event that leaves it enters it
  // again. keymoded looks at the keys before it acts.
  state = await send('tapBlankArea', true);
  for (let tries = 0; tries < 3 && state.keyboard === 'prepareToRecord'; tries += 1) {
    state = await send('clickSwitchButton', true);
  }
  discardedUntil = model.connection === 'connected' ? state.sequence : -1;
}

let undoEnds;

/** Forgets a message in a moment, and lets Undo bring it back until then. */
function discard(message) {
  clearTimeout(undoEnds);
  undoEnds = setTimeout(() => draw({ discarded: null }), UNDO);
  draw({ discarded: message });
}

function undo() {
  const { draft, discarded } = model;
  draw({ draft: discarded, discarded: null });
  if (draft) discard(draft);
}

let pressed;

holdable(byId('switch'), {
  press: () => {
    pressed = send('clickSwitchButton');
  },
  tap: () => draw({}),
  release: async () => endVoice(true, await pressed),
  cancel: async () => endVoice(false, await pressed),
});
byId('discard').onclick = () => end(false);
byId('draft-discard').onclick = () => endDraft(false);
byId('draft-send').onclick = () => endDraft(true);
byId('undo-button').onclick = undo;

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
voice.addEventListener('recorded', ({ detail }) => sendVoice(detail));
voice.addEventListener('dropped', ({ detail }) => discard(detail));

// What the person sees.

function draw(news) {
  const before = model.keyboard;
  const wasHidden = field.hidden;
  Object.assign(model, news);
  const { connection, outage, keyboard, shift, voice: phase, notice, discarded, draft } = model;
  const input = isSpeaking() ? 'voice' : 'text';
  Object.assign(document.documentElement.dataset, { connection, outage, keyboard, shift, voice: phase, input });
  const isHeld = 'hold' in document.documentElement.dataset;
  field.readOnly = keyboard !== 'editingText';
  field.hidden = isSpeaking();
  byId('voice').hidden = !isSpeaking();
  byId('voice-text').textContent = isHeld && phase === 'recording' ? text.slide : text.voice[phase];
  if (phase !== 'recording') drawProgress(0, 0);
  byId('undo').hidden = discarded === null;
  byId('draft').hidden = draft === null;
  byId('draft-time').textContent = minutes(draft?.seconds ?? 0);
  byId('outage').hidden = outage === '';
  byId('outage-text').textContent = text.outage[outage] ?? '';
  byId('outage-reason').textContent = model.reason;
  byId('panel').hidden = keyboard !== 'showingPanel';
  byId('more').ariaExpanded = keyboard === 'showingPanel';
  byId('more').hidden = isSpeaking();
  byId('switch').hidden = isSpeaking() && !isHeld;
  byId('discard').hidden = !isSpeaking() || isHeld;
  byId('send').disabled = !(isSpeaking() ? isRunning() : field.value.trim());
  byId('shift').ariaLabel = text.shift[shift ?? 'off'];
  const state = isSpeaking() ? text.voice[phase] : text.keyboard[keyboard];
  const said = notice || (discarded && text.discarded) || (draft && !isRunning() && text.draft);
  const parts = [(!said || phase === 'failed') && state, said, shift !== 'off' && text.shift[shift]];
  say(connection === 'connecting' ? text.connecting : parts.filter(Boolean).join(' · '));
  if (wasHidden && !field.hidden) fit();
  if (keyboard === before && field.hidden === wasHidden) return;
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
clear();
draw({});
keymode.connect();
