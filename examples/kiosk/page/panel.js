// The panel of emoji and pictures, for fingers and for arrow keys.

import { picture } from './conversation.js';
import { text } from './words.js';

const EMOJI = ['😀', '😂', '😊', '😍', '😎', '🤔', '😢', '😮', '👍', '👎', '👋', '🙏', '👏', '💪', '❤️', '🎉', '🌞', '🌧️', '☕', '🍎', '🚆', '🚲', '🏠', '⏰'];

const panel = document.querySelector('#panel');

/** Fills the panel; each choice calls one of these. */
export function fill(chooseEmoji, choosePicture) {
  const emoji = EMOJI.map((one) => button(one, () => chooseEmoji(one)));
  const pictures = Object.keys(text.pictures).map((name) => button(picture(name), () => choosePicture(name)));
  document.querySelector('#emoji').append(...emoji);
  document.querySelector('#pictures').append(...pictures);
  panel.onkeydown = move;
}

/** Lets arrow keys and Enter choose. */
export function focusFirst() {
  panel.querySelector('#emoji button').focus();
}

function button(content, choose) {
  const element = document.createElement('button');
  element.type = 'button';
  element.append(content);
  element.onclick = choose;
  return element;
}

/** Moves the focus to the nearest choice in the direction of an arrow key. */
function move(event) {
  const [right, down] = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] }[event.key] ?? [0, 0];
  if (!right && !down) return;
  event.preventDefault();
  const middle = (element) => {
    const { x, y, width, height } = element.getBoundingClientRect();
    return [x + width / 2, y + height / 2];
  };
  const [x, y] = middle(event.target);
  const ahead = [...panel.querySelectorAll('button')].flatMap((element) => {
    const [otherX, otherY] = middle(element);
    const along = (otherX - x) * right + (otherY - y) * down;
    const aside = Math.abs((otherX - x) * down) + Math.abs((otherY - y) * right);
    // A choice in another row is no neighbour to the left or right.
    return along > 1 && (down || aside < 1) ? [{ element, distance: along + 4 * aside }] : [];
  });
  ahead.sort((one, other) => one.distance - other.distance)[0]?.element.focus();
}
