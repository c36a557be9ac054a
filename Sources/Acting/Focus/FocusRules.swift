import KeyboardModes

/// Decides which events to send while text fields get and lose the focus.
///
/// | keyboard                         | a text field gets the focus | none has had it for 150 ms |
/// | -------------------------------- | --------------------------- | -------------------------- |
/// | prepareToEditText                | `tapTextField`              | nothing                    |
/// | editingText, by its own event    | nothing                     | `tapBlankArea`             |
/// | editingText, by any other        | nothing                     | nothing                    |
/// | any other state, or unknown      | nothing                     | nothing                    |
///
/// A text field *gets* the focus once, and an event is sent for it once at most. The user who leaves
/// editingText by a key, with the field still focused, does not want it back: nothing happens until
/// a field gets the focus anew.
///
/// The state may follow the focus, as when a picker closes before the state tells that it did. So a
/// field that got the focus less than 150 ms before the keyboard comes into prepareToEditText gets it
/// then, unless the keyboard was in editingText meanwhile. What happens while the state is unknown, or
/// while an event is on its way, counts when that is over.
///
/// The rules do not read a clock: every input has its time, and ``deadline`` is the time at which
/// ``advance(to:)`` would decide something.
struct FocusRules: Sendable {
  typealias Instant = ContinuousClock.Instant

  /// The events that are sent.
  enum Event: String, CaseIterable, Sendable {
    case tapTextField, tapBlankArea
  }

  /// A state of the keyboard machine, and when it was entered; that identifies the change.
  struct Keyboard: Hashable, Sendable {
    let state: String
    let since: Time?
  }

  /// How the daemon answered an event.
  struct Answer: Hashable, Sendable {
    /// Whether the event changed anything.
    let changed: Bool
    /// The keyboard after it.
    let keyboard: Keyboard
  }

  /// An event whose effect is not known yet.
  private struct Sent {
    let time: Instant
    var answer: Answer?
    /// Whether the states became unknown since: those that follow are newer than the answer.
    var isFormer = false

    /// Whether these states include the effect.
    func isSettled(_ keyboard: Keyboard) -> Bool {
      guard let answer else { return false }
      guard !isFormer, let since = answer.keyboard.since else { return true }
      return keyboard.since.map { $0 >= since } ?? false
    }
  }

  /// How long text fields may be without the focus, such as between two of them.
  static let patience = Duration.milliseconds(150)

  private static let preparing = KeyboardRules.State.prepareToEditText.name
  private static let editing = KeyboardRules.State.editingText.name

  private var hasTextField = false
  /// When that last changed, or counts as changed.
  private var changed: Instant
  /// Whether the text field got the focus, and nothing has come of it yet.
  private var isNews = false
  /// `nil`: unknown.
  private var keyboard: Keyboard?
  private var unknownSince: Instant
  private var sent: Sent?
  /// When its own event began the last editingText that it began.
  private var ownSince: Time?

  /// Begins with no text field and an unknown keyboard.
  init(at now: Instant) { (changed, unknownSince) = (now, now) }

  // MARK: - The inputs; each returns the event to send, if any

  /// A text field got the focus, also from another text field.
  mutating func gain(at now: Instant) -> Event? {
    (hasTextField, isNews, changed) = (true, true, now)
    return decide(now)
  }

  /// No text field has the focus any more.
  mutating func lose(at now: Instant) -> Event? {
    guard hasTextField else { return nil }
    (hasTextField, isNews, changed) = (false, false, now)
    return decide(now)
  }

  /// The keyboard is in this state, or its state is unknown.
  mutating func take(_ new: Keyboard?, at now: Instant) -> Event? {
    let old = keyboard
    keyboard = new
    switch (old, new) {
    case (_?, nil):
      unknownSince = now
      sent?.isFormer = true
    // The time without a text field begins anew too: with the lock screen gone, a window has yet to
    // get its focus back.
    case (nil, _?): if changed >= unknownSince || !hasTextField { changed = now }
    case (nil, nil), (_?, _?): break
    }
    return settle(now)
  }

  /// The daemon answered an event, or did not: `nil`.
  mutating func take(_ answer: Answer?, to event: Event, at now: Instant) -> Event? {
    if let answer, answer.changed, event == .tapTextField, answer.keyboard.state == Self.editing {
      ownSince = answer.keyboard.since
    }
    if let answer { sent?.answer = answer } else { sent = nil }
    return settle(now)
  }

  /// It is `now`.
  mutating func advance(to now: Instant) -> Event? { decide(now) }

  /// When ``advance(to:)`` would decide something; `nil` if only another input can.
  var deadline: Instant? {
    guard sent == nil, !hasTextField, isOwnEditing else { return nil }
    return changed.advanced(by: Self.patience)
  }

  // MARK: - The decisions

  private var isOwnEditing: Bool {
    guard let keyboard, let ownSince else { return false }
    return keyboard == Keyboard(state: Self.editing, since: ownSince)
  }

  /// Goes on when the effect of the event that was sent is known.
  private mutating func settle(_ now: Instant) -> Event? {
    if let sent, let keyboard, sent.isSettled(keyboard) {
      if hasTextField, changed >= sent.time { changed = now }
      self.sent = nil
    }
    return decide(now)
  }

  private mutating func decide(_ now: Instant) -> Event? {
    guard sent == nil, let keyboard else { return nil }
    let isRecent = now < changed.advanced(by: Self.patience)
    switch (hasTextField, keyboard.state) {
    case (true, Self.preparing):
      guard isNews, isRecent else { return nil }
      return send(.tapTextField, at: now)
    case (true, Self.editing):
      // The field is being edited already.
      isNews = false
      return nil
    case (false, Self.editing):
      guard isOwnEditing, !isRecent else { return nil }
      return send(.tapBlankArea, at: now)
    // Nothing is open that could be closed, or something else has the focus on purpose.
    default: return nil
    }
  }

  private mutating func send(_ event: Event, at now: Instant) -> Event {
    isNews = false
    ownSince = nil
    sent = Sent(time: now)
    return event
  }
}
