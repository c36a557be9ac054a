// The microphone, which is open only while a message is recorded.

/** Milliseconds between two readings of the loudness. */
const INTERVAL = 60;

/**
 * Records one message at a time. Dispatches `started` when the microphone is open, `progress` with the
 * `level` (0 to 1) and the `seconds` so far, `recorded` with the `blob` and its `seconds`, and `failed`
 * if the microphone cannot be used.
 */
export class Voice extends EventTarget {
  /** The recording that is wanted, from the moment on in which the microphone is asked for. */
  #recording = null;

  /** Whether `start` was called, and neither `finish` nor `drop` since. */
  get isRecording() {
    return this.#recording !== null;
  }

  /** Opens the microphone, and records. */
  async start() {
    this.drop();
    const recording = { isKept: false };
    this.#recording = recording;
    const stream = await openMicrophone();
    // Opening takes a while, and a state can be left before.
    if (this.#recording !== recording) stop(stream);
    else if (stream) this.#record(recording, stream);
    else this.#tell('failed');
  }

  /** Ends the recording and keeps it: `recorded` follows. */
  finish() {
    if (this.#recording) this.#recording.isKept = true;
    this.drop();
  }

  /** Ends the recording. */
  drop() {
    const recording = this.#recording;
    this.#recording = null;
    recording?.end?.();
  }

  #record(recording, stream) {
    const recorder = new MediaRecorder(stream);
    const parts = [];
    const meter = new Meter(stream);
    const begin = performance.now();
    const seconds = () => (performance.now() - begin) / 1000;
    const timer = setInterval(() => this.#tell('progress', { level: meter.level, seconds: seconds() }), INTERVAL);
    let length;

    recording.end = () => {
      length = seconds();
      recorder.stop();
      stop(stream);
    };
    recorder.ondataavailable = ({ data }) => parts.push(data);
    recorder.onstop = () => {
      clearInterval(timer);
      meter.close();
      if (recording.isKept) this.#tell('recorded', { blob: new Blob(parts, { type: recorder.mimeType }), seconds: length });
      // It ended by itself: the microphone was unplugged, or its permission taken away.
      if (this.#recording === recording) this.#tell('failed');
    };
    recorder.onstart = () => this.#tell('started');
    recorder.start();
  }

  #tell(name, detail) {
    this.dispatchEvent(new CustomEvent(name, { detail }));
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

/** A stream of the microphone, or null where there is none, or no permission. */
async function openMicrophone() {
  try {
    return await navigator.mediaDevices.getUserMedia({ audio: true });
  } catch {
    return null;
  }
}

/** Closes the microphone. */
function stop(stream) {
  for (const track of stream?.getTracks() ?? []) track.stop();
}
