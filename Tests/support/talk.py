"""The machine of a talk key, which keymode-call.service follows."""

from support.checkout import CHECKOUT

SETTINGS = (CHECKOUT / "data/recipes/push-to-talk.yaml").read_text()
PRESS, TAP, RELEASE = "talk.press", "talk.tap", "talk.release"
