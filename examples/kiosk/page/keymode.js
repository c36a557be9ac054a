// The connection to keymoded, through the bridge.

/** Milliseconds until a connection that the browser gave up is opened again. */
const RETRY = 500;
/** Milliseconds after which a request counts as failed. */
const PATIENCE = 1000;
/** The same for a message, which the bridge writes to the disk. */
const HANDING = 10_000;
/** For the operator, in the words of the journal. */
const REASONS = {
  bridge: 'keymode-kiosk.service does not answer',
  refused: 'open this page by $XDG_RUNTIME_DIR/keymode-kiosk.html again',
};

/**
 * Dispatches `settings` with those of the bridge; `states` with what the bridge sent: the present `state`, the
 * `changes` that led to it, how many were `missed`, and whether keymoded has `restarted` and may have missed some; and
 * `lost` with what is lost as `connection`,
 * 'daemon', 'bridge' or 'refused', and a `reason` for the operator.
 */
export class Keymode extends EventTarget {
  #token;
  #seen = '';
  #source;
  /** Why the last event was not taken. */
  complaint = '';

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
    source.addEventListener('settings', ({ data }) => this.#tell('settings', JSON.parse(data)));
    source.addEventListener('away', ({ data }) => this.#lose('daemon', JSON.parse(data)));
    source.onerror = async () => {
      this.#lose('bridge');
      // Otherwise the browser connects again, and sends the ID of the last event itself.
      if (source.readyState !== EventSource.CLOSED) return;
      const isRefused = (await this.#fetch('/state'))?.status === 403;
      // Only a page that is opened anew has another token.
      if (isRefused) this.#lose('refused');
      else setTimeout(() => this.connect(), RETRY);
    };
  }

  /** Gives the connection up, and makes a new one. */
  reconnect() {
    this.#lose('bridge');
    this.connect();
  }

  /** Sends an event, and returns the state after it; null if keymoded did not take it. */
  async trigger(event) {
    const response = await this.#fetch('/trigger', { method: 'POST', body: JSON.stringify({ event }) });
    if (response?.ok) return (await response.json().catch(() => null))?.state ?? null;
    this.complaint = (await response?.text().catch(() => null)) ?? REASONS.bridge;
    return null;
  }

  /** Hands a message of a media type to the operator's program: the status of the answer, or null. */
  async hand(identity, kind, body) {
    const options = { method: 'PUT', body, headers: { 'Content-Type': kind } };
    return (await this.#fetch(`/messages/${identity}`, options, HANDING))?.status ?? null;
  }

  /** What became of messages, by their IDs; null if no answer comes. */
  async results(identities) {
    const response = await this.#fetch(`/messages?ids=${identities.join()}`);
    // The token is old, or the bridge has no program any more.
    if (response?.status === 403 || response?.status === 404) {
      return Object.fromEntries(identities.map((identity) => [identity, { state: 'unknown' }]));
    }
    return response?.ok ? await response.json().catch(() => null) : null;
  }

  /** The state now, and the boot time as `now`; null if no answer comes within `timeout` milliseconds. */
  async state(timeout = PATIENCE) {
    const response = await this.#fetch('/state', {}, timeout);
    return response?.ok ? await response.json().catch(() => null) : null;
  }

  /** The response, or null if none comes in time. */
  #fetch(path, options = {}, timeout = PATIENCE) {
    const headers = { ...options.headers, Authorization: `Bearer ${this.#token}` };
    return fetch(path, { ...options, headers, signal: AbortSignal.timeout(timeout) }).catch(() => null);
  }

  #lose(connection, reason = REASONS[connection]) {
    this.#tell('lost', { connection, reason });
  }

  #tell(name, detail) {
    this.dispatchEvent(new CustomEvent(name, { detail }));
  }
}
