import KeyboardModes

/// The fast path of libinput's recordings.
///
/// The reports of a recording are items of a list, and nearly all of them look like this:
///
///     ··- evdev:
///     ····- [  0,      0,   1,  42,       1] # EV_KEY / KEY_LEFTSHIFT             1
///     ····- [  0,      0,   0,   0,       0] # ------------ SYN_REPORT (0) ---------- +0ms
///
/// libyaml gets the text only up to the first line of the next report. When the parser has taken a
/// report, libyaml has read the dash of that line and nothing behind it. Behind any number of whole
/// reports it would be in the same state, if the last of them is followed by the same line; only the
/// numbers of the lines would be higher. So these reports are parsed here and left out of the text of
/// libyaml, and whatever looks different is left to it, from the last report before it on.
extension LibinputParser {
  /// The key events of the next reports, as far as they are in memory, and the number of their
  /// device; `nil` if there are none.
  mutating func nextKeys() -> (events: [KeyEvent], device: Int)? {
    guard context.last == .item else { return nil }
    var reports = RegularReports(isObfuscated: reader.source.hasObfuscationMark)
    guard let events = reader.skipReports(with: &reports) else { return nil }
    recovery.entryColumn = 2
    isRecognized = true
    if reports.found.hasHiddenKeys { warnOfObfuscation() }
    let device = devices.number()
    return events.isEmpty ? nil : (events, device)
  }
}
