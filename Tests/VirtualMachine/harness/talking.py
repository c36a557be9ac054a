"""Push-to-talk in the guest: a configuration for it, and what its tests look at."""

import json
from typing import Any

from harness.vm import VirtualMachine

TABLE = """
keyboard:
  table:
    events: [startTalking, stopTalking]
    rows:
      prepareToEditText: { startTalking: prepareToRecord }
      editingText: { startTalking: prepareToRecord, stopTalking: showingPanel }
      showingPanel: { startTalking: prepareToRecord }
      prepareToRecord: { stopTalking: editingText }
"""
"""Push-to-talk without a key. A second `stopTalking` shows, because it leads to showingPanel."""

PUSH_TO_TALK = f"""{TABLE}
  bindings:
    startTalking: [F9]
    stopTalking: [F9 release]
"""

TALKING, SILENT = "prepareToRecord", "editingText"


def settled(vm: VirtualMachine) -> dict[str, Any]:
    """The states after all typed keys have acted: the reply to an event that is ignored."""
    answer = vm.run("keymodectl trigger tapTextField --json", check=False)
    assert (answer.exit_code, answer.stderr) == (1, ""), "only while talking or editing"
    states: dict[str, Any] = json.loads(answer.stdout)["state"]
    return states


def expect_one_stop(vm: VirtualMachine, before: dict[str, Any]) -> None:
    """Waits for the end of talking, and checks that it is the only change since `before`."""
    vm.run(f"keymodectl wait keyboard={SILENT} --timeout 100")
    after = settled(vm)
    assert (after["keyboard"], after["sequence"]) == (SILENT, before["sequence"] + 1)
    assert after["instance"] == before["instance"]


def talk(vm: VirtualMachine) -> dict[str, Any]:
    """Presses F9, and returns the states."""
    vm.play("down f9; wait 60")
    talking = settled(vm)
    assert talking["keyboard"] == TALKING
    return talking
