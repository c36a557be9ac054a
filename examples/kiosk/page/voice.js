// The microphone, which is open only while a message is recorded.

/** Milliseconds between two readings of the loudness. */
const INTERVAL = 60;
/** Seconds after which a message ends by itself. */
const LONGEST = 300;
/** Bits per second of sound: enough for speech, and five minutes are about a megabyte. */
const RATE = 32_000;

/**
 * Records one message at a time. Dispatches `phase` when `phase` changes, `progress` with the `level`
 * (0 to 1) and the `seconds` so far, `recorded` with a message that is kept, and `dropped` with one that
 * is not, which may still be undone. A message has its `blob`, its `seconds`, and the `levels` in it; a kept one
 * `isForgotten` if `forget` came before its end.
 */
export class Voice extends EventTarget {
  /** `idle`, `opening` the microphone, `recording`, or `failed` because it cannot be used. */
  phase = 'idle';
  #recording = null;
  /** A recorder stops later than it is told to: by then, the visit may have ended. */
  #forgotten = 0;

  /** Opens the microphone, and records. */
  async start() {
    this.drop();
    const recording = new Recording();
    this.#recording = recording;
    this.#enter('opening');
    recording.onprogress = (progress) => {
      this.#tell('progress', progress);
      if (progress.seconds >= LONGEST) this.finish();
    };
    // It ended by itself: the microphone was unplugged, or its permission taken away.
    recording.onend = (message) => {
      this.#fail(recording);
      if (message) this.#tell('dropped', message);
    };
    try {
      await recording.begin();
      if (this.#recording === recording) this.#enter('recording');
    } catch {
      this.#fail(recording);
    }
  }

  /** Ends the recording and keeps it: `recorded` follows. */
  finish() {
    this.#end('idle', (message, isForgotten) => this.#tell('recorded', { ...message, isForgotten }));
  }

  /** Ends the recording: `dropped` follows if there was a word. */
  drop() {
    this.#end('idle', (message, isForgotten) => isForgotten || this.#tell('dropped', message));
  }

  /** Ends the recording, of which nothing is left, nor of those that were dropped. */
  forget() {
    this.#forgotten += 1;
    this.#end('idle');
  }

  #fail(recording) {
    if (this.#recording === recording) this.#end('failed');
  }

  /** Ends the recording; `take` gets its message. */
  #end(phase, take = () => {}) {
    const recording = this.#recording;
    const before = this.#forgotten;
    this.#recording = null;
    if (recording) recording.onend = (message) => message && take(message, this.#forgotten > before);
    recording?.close();
    this.#enter(phase);
  }

  #enter(phase) {
    if (this.phase === phase) return;
    this.phase = phase;
    this.#tell('phase');
  }

  #tell(name, detail) {
    this.dispatchEvent(new CustomEvent(name, { detail }));
  }
}

/** One message, from asking for the microphone to closing it. */
class Recording {
  /** Called while it records, and at its end with the message, which is null if nothing was recorded. */
  onprogress = null;
  onend = null;
  #tracks = [];
  #recorder;
  #meter;
  #timer;
  #begun;
  #levels = [];
  #isClosed = false;

  /** Opens the microphone, and records; throws where that fails. */
  async begin() {
    const stream = await navigator.mediaDevices.getUserMedia({ audio: true });
    this.#tracks = stream.getTracks();
    // Opening takes a while, and the state can be left before.
    if (this.#isClosed) return this.close();
    const parts = [];
    this.#recorder = new MediaRecorder(stream, { audioBitsPerSecond: RATE });
    this.#recorder.ondataavailable = ({ data }) => parts.push(data);
    this.#recorder.onstop = () => {
      // Firefox forgets the type of a recorder that has stopped.
      const blob = new Blob(parts, { type: parts[0]?.type || this.#recorder.mimeType });
      const isBegun = this.#begun !== undefined;
      this.onend?.(isBegun ? { blob, seconds: this.#seconds, levels: this.#levels } : null);
    };
    this.#meter = new Meter(stream);
    await new Promise((started) => {
      this.#recorder.onstart = started;
      this.#recorder.start();
    });
    if (this.#isClosed) return;
    this.#begun = performance.now();
    this.#timer = setInterval(() => {
      const { level } = this.#meter;
      this.#levels.push(level);
      this.onprogress?.({ level, seconds: this.#seconds });
    }, INTERVAL);
  }

  /** Closes the microphone, whatever is open by now. */
  close() {
    this.#isClosed = true;
    clearInterval(this.#timer);
    try {
      if (this.#recorder?.state === 'recording') this.#recorder.stop();
      this.#meter?.close();
    } finally {
      for (const track of this.#tracks) track.stop();
    }
  }

  get #seconds() {
    return (performance.now() - this.#begun) / 1000;
  }
}

/** The loudness of a stream. */
class Meter {
  #context = new AudioContext();
  #analyser = this.#context.createAnalyser();
  #samples = new Float32Array(this.#analyser.fftSize);

  constructor(stream) {
    this.#context.createMediaStreamSource(stream).connect(this.#analyser);
  }

  /** From 0 to 1. The factor lets usual speech move the meter. */
  get level() {
    this.#analyser.getFloatTimeDomainData(this.#samples);
    const power = this.#samples.reduce((sum, sample) => sum + sample * sample, 0) / this.#samples.length;
    return Math.min(1, 4 * Math.sqrt(power));
  }

  close() {
    this.#context.close();
  }
}
