// A visit, which ends when nobody is there any more.

/** Seconds for which the page asks before the visit ends, or all of a shorter idle time. */
const COUNTDOWN = 10;

/**
 * Dispatches `asking` with the seconds `left` until the visit ends, null when it goes on, and then `ended`.
 * `isBusy` says whether something goes on without a key or touch, such as a message that plays.
 */
export class Visit extends EventTarget {
  /** Seconds without a key or touch after which the page asks; 0 for never. */
  idle = 60;
  isAsking = false;
  #isBusy;
  #timer;

  constructor(isBusy) {
    super();
    this.#isBusy = isBusy;
  }

  /** Somebody is there. */
  goOn() {
    clearTimeout(this.#timer);
    if (this.isAsking) this.ask(null);
    if (this.idle > 0) this.#timer = setTimeout(() => this.#count(Math.min(COUNTDOWN, this.idle)), this.idle * 1000);
  }

  /** Ends the visit at once. */
  end() {
    clearTimeout(this.#timer);
    if (this.isAsking) this.ask(null);
    this.dispatchEvent(new Event('ended'));
  }

  #count(left) {
    if (this.#isBusy()) return this.goOn();
    if (left <= 0) return this.end();
    this.ask(left);
    this.#timer = setTimeout(() => this.#count(left - 1), 1000);
  }

  /** Asks, or no longer. */
  ask(left) {
    this.isAsking = left !== null;
    this.dispatchEvent(new CustomEvent('asking', { detail: left }));
  }
}
