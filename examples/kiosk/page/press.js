// A finger on the microphone: a touch, or a hold with a slide to cancel.

/** Milliseconds after which a press is a hold: its end sends. A slow tap is shorter, and so is a message of nothing. */
const HOLD = 1000;
/** CSS pixels to the left after which a hold is cancelled. */
const SLIDE = 72;

/**
 * Calls `press` when a finger, the mouse or Enter presses the button, and then `tap`; or `release` when a hold ends,
 * or `cancel` when it slid to the left or was taken away. `<html>` has `data-hold` while the button is pressed.
 */
export function holdable(button, { press, tap, release, cancel }) {
  const root = document.documentElement;
  let pressed = null;

  function end(action) {
    pressed = null;
    delete root.dataset.hold;
    button.style.translate = '';
    action();
  }

  button.onpointerdown = (event) => {
    if (event.button !== 0 || pressed) return;
    // The button gets what follows also if the finger leaves it.
    button.setPointerCapture(event.pointerId);
    pressed = { x: event.clientX, time: event.timeStamp, id: event.pointerId };
    root.dataset.hold = '';
    press();
  };
  button.onpointermove = (event) => {
    if (event.pointerId !== pressed?.id) return;
    const slid = Math.max(0, pressed.x - event.clientX);
    button.style.translate = `${-slid}px`;
    if (slid >= SLIDE) end(cancel);
  };
  button.onpointerup = (event) => {
    if (event.pointerId === pressed?.id) end(event.timeStamp - pressed.time >= HOLD ? release : tap);
  };
  button.onpointercancel = (event) => event.pointerId === pressed?.id && end(cancel);
  // Only a key or a screen reader clicks without a pointer.
  button.onclick = (event) => event.detail === 0 && press();
}
