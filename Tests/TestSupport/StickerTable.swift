/// A `table` that adds a state, an event and rows to the shipped one, indented as a part of a
/// configuration's `keyboard`.
public let stickerTable = """
    table:
      states: [showingStickers]
      events: [clickStickerButton]
      rows:
        editingText: { clickStickerButton: showingStickers }
        showingStickers: { clickStickerButton: editingText, tapBlankArea: prepareToEditText }
  """
