// The connection to keymoded, through the bridge.

/** Milliseconds until a connection that the browser gave up is opened again. */
const RETRY = 500;

/**
 * Dispatches `states` with what the bridge sent: the present `state`, the `changes` that led to it, and
 * how many were `missed` (null: some); and `lost` with the reason: 'daemon', 'bridge' or 'refused'.
 */
export class Keymode extends EventTarget {
  #token;
  #seen = '';
  #source;

  /** `token` is what the bridge wrote into the file that opened this page. */
  constructor(token) {
    super();
    this.#token = token;
  }

  /** Connects, and goes on doing so for as long as the page lives. */
  connect() {
    this.#source?.close();
    const query = new URLSearchParams({ token: this.#token, after: this.#seen });
    const source = new EventSource(`/events?${query}`);
    this.#source = source;
    source.onmessage = ({ data, lastEventId }) => {
      this.#seen = lastEventId;
      this.#tell('states', JSON.parse(data));
    };
    source.addEventListener('away', () => this.#tell('lost', 'daemon'));
    source.onerror = async () => {
      this.#tell('lost', 'bridge');
      // Otherwise the browser connects again, and sends the ID of the last event itself.
      if (source.readyState !== EventSource.CLOSED) return;
      const isRefused = (await this.#fetch('/state').catch(() => null))?.status === 403;
      // Only a page that is opened anew has another token.
      if (isRefused) this.#tell('lost', 'refused');
      else setTimeout(() => this.connect(), RETRY);
    };
  }

  /** Gives the connection up, and makes a new one. */
  reconnect() {
    this.#tell('lost', 'bridge');
    this.connect();
  }

  /** Sends an event, and returns whether keymoded took it. Its effect comes as a change. */
  async trigger(event) {
    const request = { method: 'POST', body: JSON.stringify({ event }) };
    return (await this.#fetch('/trigger', request).catch(() => null))?.ok ?? false;
  }

  /** The state now, and the boot time; null if there is no answer within so many milliseconds. */
  async state(timeout) {
    try {
      const response = await this.#fetch('/state', { signal: AbortSignal.timeout(timeout) });
      return response.ok ? await response.json() : null;
    } catch {
      return null;
    }
  }

  #fetch(path, options = {}) {
    return fetch(path, { ...options, headers: { Authorization: `Bearer ${this.#token}` } });
  }

  #tell(name, detail) {
    this.dispatchEvent(new CustomEvent(name, { detail }));
  }
}
