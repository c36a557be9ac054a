"""The machine of a talk key, which keymode-call.service follows."""

from support.checkout import CHECKOUT

# Whether the daemon has no machine of one's own yet: then the keyboard has the states of `talk`.
AS_KEYBOARD = True

_KEYBOARD = """
keyboard:
  table:
    replaces: true
    initial: silent
    states: [silent, talking, trailing, again, open, closing]
    events: [press, release, tap, gone, trailed]
    rows:
      silent: { press: talking }
      talking: { release: trailing, gone: silent }
      trailing: { press: again, trailed: silent }
      again: { tap: open, release: trailing, gone: silent }
      open: { press: closing, gone: silent }
      closing: { tap: silent, release: trailing, gone: silent }
  bindings:
    press: [F9]
    release: [F9 release]
    tap: [F9 tap]
"""

MACHINE = "keyboard" if AS_KEYBOARD else "talk"
SETTINGS = _KEYBOARD if AS_KEYBOARD else (CHECKOUT / "data/recipes/push-to-talk.yaml").read_text()

_PREFIX = "" if AS_KEYBOARD else "talk."
PRESS, TAP = f"{_PREFIX}press", f"{_PREFIX}tap"
RELEASE = [f"{_PREFIX}release"] + (["trailed"] if AS_KEYBOARD else [])
"""The release, and the end of the tail, which the machine `talk` makes by itself."""


def condition(text: str) -> str:
    """The conditions of a command line or a unit, for the machine that the daemon has."""
    return text.replace(" talk=", f" {MACHINE}=")
