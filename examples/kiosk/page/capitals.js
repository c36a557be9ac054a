// Which letters Shift makes capitals.

/** Milliseconds by which the browser's time of a key may differ from the kernel's. */
const NEAR = 25;
/** Milliseconds for which a letter can still be judged anew: no change arrives later than that. */
const OPEN = 1000;
/** How many changes are remembered: more than fingers can make in that time. */
const REMEMBERED = 64;

/**
 * Matches letters with the changes of Shift by their times.
 *
 * The browser tells of a key, and keymoded of the change that it caused, and either can come first.
 * So a letter is judged by what is known when it is typed, and again when a change arrives. Times are
 * milliseconds on the page's clock.
 */
export class Capitals {
  #state = 'off';
  #changes = [];
  #letters = [];

  /** Begins anew with a state of Shift, when nothing is known of the changes that led to it. */
  begin(state) {
    this.#state = state;
    this.#changes = [];
    this.#letters = [];
  }

  /** Takes a key that typed a letter, and returns the letter: `capital` says whether it is one. */
  typed(time) {
    const letter = { time };
    this.#forgetLetters(time);
    this.#letters.push(letter);
    letter.capital = this.#isCapital(letter);
    return letter;
  }

  /** Takes a change of Shift at this time, and returns the letters whose case changes. */
  changed(time, change) {
    this.#changes.push({ ...change, time });
    if (this.#changes.length > REMEMBERED) this.#state = this.#changes.shift().to;
    this.#forgetLetters(time);
    return this.#letters.filter((letter) => {
      const before = letter.capital;
      letter.capital = this.#isCapital(letter);
      return letter.capital !== before;
    });
  }

  #forgetLetters(now) {
    this.#letters = this.#letters.filter((letter) => letter.time > now - OPEN);
  }

  #isCapital(letter) {
    // The letter that ended a Shift for one letter.
    if (this.#changes.some((change) => this.#letterOf(change) === letter)) return true;
    const before = this.#changes.filter((change) => change.time <= letter.time);
    const state = before.at(-1)?.to ?? this.#state;
    if (state !== 'on') return state === 'capsLock';
    // It ends this Shift, or an earlier letter does, and the change is on its way.
    const since = before.at(-1)?.time ?? -Infinity;
    const isLatest = before.length === this.#changes.length;
    return isLatest && this.#letters.find((other) => other.time >= since) === letter;
  }

  /** The letter whose key caused a change: the nearest one in time. */
  #letterOf(change) {
    if (change.event !== 'characterTyped') return undefined;
    const distance = (letter) => Math.abs(letter.time - change.time);
    return this.#letters
      .filter((letter) => distance(letter) <= NEAR)
      .toSorted((one, other) => distance(one) - distance(other))[0];
  }
}
