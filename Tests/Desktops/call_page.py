"""A page of a call, on http://localhost:8000, for the guest: its first argument is a file for what it hears.

It chooses the microphone Push-to-talk, as a person does in a call. For each half a second, it shows by its colour
whether it hears anything, and the file has a line: the greatest sample, without a sign.
"""

import http.server
import sys

PAGE = """\
<!doctype html>
<title>A call</title>
<body style="font: 40px sans-serif"><p>no microphone yet
<script>
const shown = document.querySelector("p");
const media = navigator.mediaDevices;
const listen = async () => {
  // A page learns the names of microphones once it may use one.
  (await media.getUserMedia({ audio: true })).getTracks().forEach((track) => track.stop());
  const devices = await media.enumerateDevices();
  const { deviceId } = devices.find((device) => device.label === "Push-to-talk");
  const asItIs = { echoCancellation: false, noiseSuppression: false, autoGainControl: false };
  const stream = await media.getUserMedia({ audio: { deviceId: { exact: deviceId }, ...asItIs } });
  const [track] = stream.getAudioTracks();
  const reader = new MediaStreamTrackProcessor({ track }).readable.getReader();
  for (let greatest = 0, count = 0;;) {
    const { value: sound } = await reader.read();
    const samples = new Float32Array(sound.numberOfFrames);
    sound.copyTo(samples, { planeIndex: 0, format: "f32-planar" });
    count += samples.length;
    greatest = samples.reduce((most, sample) => Math.max(most, Math.abs(sample)), greatest);
    const isFull = count >= sound.sampleRate / 2;
    sound.close();
    if (!isFull) continue;
    shown.textContent = greatest ? `hears: ${greatest}` : "silence";
    document.body.style.background = greatest ? "#d0212f" : "#2f8132";
    await fetch("/", { method: "POST", body: String(greatest) });
    greatest = count = 0;
  }
};
// On a slow machine a browser may wait too little for the microphone.
listen().catch((error) => { shown.textContent = `${error}`; setTimeout(() => location.reload(), 2000); });
</script>
"""


class Call(http.server.BaseHTTPRequestHandler):
    """Sends the page, and writes what it tells into the file."""

    def do_GET(self) -> None:
        """Sends the page."""
        self._answer(PAGE.encode())

    def do_POST(self) -> None:
        """Writes a line."""
        told = self.rfile.read(int(self.headers["Content-Length"])).decode()
        with open(sys.argv[1], "a") as file:
            file.write(f"{told}\n")
        self._answer(b"")

    def _answer(self, body: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


http.server.ThreadingHTTPServer(("localhost", 8000), Call).serve_forever()
