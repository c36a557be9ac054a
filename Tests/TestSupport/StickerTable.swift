/// The `table` of a configuration's `keyboard`, indented for it: it adds a state, an event and rows to the
/// shipped table.
public let stickerTable = """
    table:
      states: [showingStickers]
      events: [clickStickerButton]
      rows:
        editingText: { clickStickerButton: showingStickers }
        showingStickers: { clickStickerButton: editingText, tapBlankArea: prepareToEditText }
  """
