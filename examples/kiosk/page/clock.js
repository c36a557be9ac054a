// Converts the kernel's boot time to the page's clock.

const TRIES = 5;

/**
 * Maps the kernel's boot time, in microseconds, to the page's clock, performance.now(), in
 * milliseconds. Both run at the same pace until the machine sleeps: boot time goes on then.
 */
export class BootClock {
  #offset = null;
  /** Milliseconds; infinite while nothing was measured. */
  #error = Infinity;
  #isMeasuring = false;

  /** The page's time at which the kernel's clock showed this time. */
  pageTime(bootTime) {
    return bootTime / 1000 - this.#offset;
  }

  /**
   * Learns from a message that the bridge sent at boot time `now`: it cannot have arrived earlier.
   * Returns whether `measure` can do better.
   */
  received(now, arrived = performance.now()) {
    const least = now / 1000 - arrived;
    const most = this.#error === Infinity ? this.#offset : this.#offset + this.#error;
    if (this.#offset === null || least > most) {
      this.#offset = least;
      this.#error = Infinity;
    }
    return this.#error === Infinity;
  }

  /** Asks for the boot time several times. Of the answers, the fastest is the most exact. */
  async measure(ask) {
    if (this.#isMeasuring) return;
    this.#isMeasuring = true;
    for (let tries = 0; tries < TRIES; tries += 1) {
      const asked = performance.now();
      const answer = await ask();
      if (!answer) break;
      const error = (performance.now() - asked) / 2;
      if (error >= this.#error) continue;
      this.#offset = answer.now / 1000 - (asked + error);
      this.#error = error;
    }
    this.#isMeasuring = false;
  }
}
