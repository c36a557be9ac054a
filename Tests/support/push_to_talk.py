"""The configuration of push-to-talk."""

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
