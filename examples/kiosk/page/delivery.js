// Messages on their way to the operator's program.

/** Milliseconds between two tries to hand a message over, and between two questions what became of it. */
const AGAIN = 1000;
const ASK = 300;
/** More messages than this do not wait for the bridge. */
const MOST = 20;
/** The longest message in bytes, as in the bridge: a browser that sends more may learn of no refusal. */
const LONGEST = 4 << 20;

/**
 * Hands messages to the bridge, in their order, which keeps them until the operator's program has taken them.
 * Each is told of its `state`, 'waiting', 'sent', 'failed' or 'unknown', and of the program's `answer`.
 */
export class Delivery {
  #keymode;
  /** Those that the bridge does not have yet: they outlive the visit. */
  #own = [];
  /** What tells the visitor of a message that the bridge has, by its ID. */
  #handed = new Map();
  #isHanding = false;
  #isAsking = false;

  constructor(keymode) {
    this.#keymode = keymode;
  }

  /** Sends the body that `make` returns for an ID; `tell` is null if nobody is told. */
  send(kind, make, tell) {
    const identity = crypto.randomUUID();
    const body = make(identity);
    const isTooLong = new Blob([body]).size > LONGEST;
    if (isTooLong || this.#own.length >= MOST) return tell?.({ state: 'failed' });
    this.#own.push({ identity, kind, body, tell });
    tell?.({ state: 'waiting' });
    this.#hand();
  }

  /** Tells nobody of any message any more. */
  forget() {
    this.#handed.clear();
    for (const message of this.#own) message.tell = null;
  }

  async #hand() {
    if (this.#isHanding) return;
    this.#isHanding = true;
    while (this.#own.length > 0) {
      const message = this.#own[0];
      const status = await this.#keymode.hand(message.identity, message.kind, message.body);
      // Only a page that is opened anew has another token.
      if (status === 403) return;
      const isRefused = status >= 400 && status < 500;
      if (status !== 202 && !isRefused) {
        await new Promise((done) => setTimeout(done, AGAIN));
        continue;
      }
      this.#own.shift();
      if (isRefused) message.tell?.({ state: 'failed' });
      else if (message.tell) this.#handed.set(message.identity, message.tell);
      this.#ask();
    }
    this.#isHanding = false;
  }

  async #ask() {
    if (this.#isAsking) return;
    this.#isAsking = true;
    while (this.#handed.size > 0) {
      const results = await this.#keymode.results([...this.#handed.keys()]);
      for (const [identity, result] of Object.entries(results ?? {})) {
        const tell = this.#handed.get(identity);
        if (result.state === 'waiting') continue;
        this.#handed.delete(identity);
        tell?.(result);
      }
      if (this.#handed.size > 0) await new Promise((done) => setTimeout(done, ASK));
    }
    this.#isAsking = false;
  }
}
