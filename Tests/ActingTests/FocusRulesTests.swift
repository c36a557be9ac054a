import KeyboardModes
import Testing

@testable import Acting

private let preparing = "prepareToEditText"
private let editing = "editingText"
private let panel = "showingPanel"

/// The rules, a clock in milliseconds, and a daemon that has done what the test says.
private struct Trial {
  private let start = ContinuousClock.now
  var rules: FocusRules
  private(set) var now: ContinuousClock.Instant
  private var changes: Int64 = 0

  /// Begins in a state of the keyboard, long after the start.
  init(_ state: String? = preparing) {
    now = start
    rules = FocusRules(at: start)
    if let state { _ = enter(state) }
    wait(10_000)
  }

  /// Waits without an input.
  mutating func wait(_ milliseconds: Int) { now += .milliseconds(milliseconds) }

  mutating func gain() -> FocusRules.Event? { rules.gain(at: now) }
  mutating func lose() -> FocusRules.Event? { rules.lose(at: now) }
  mutating func advance() -> FocusRules.Event? { rules.advance(to: now) }

  /// The keyboard enters a state, and the follower learns of it.
  mutating func enter(_ state: String) -> FocusRules.Event? {
    changes += 1
    return rules.take(keyboard(state), at: now)
  }

  /// The keyboard as it is after the last change, in this state.
  func keyboard(_ state: String) -> FocusRules.Keyboard {
    FocusRules.Keyboard(state: state, since: Time(microseconds: changes))
  }

  mutating func repeatState(_ state: String) -> FocusRules.Event? {
    rules.take(keyboard(state), at: now)
  }

  mutating func forgetState() -> FocusRules.Event? { rules.take(nil, at: now) }

  /// The daemon's answer to an event that made the last change.
  mutating func answer(_ event: FocusRules.Event, changed: Bool = true, _ state: String)
    -> FocusRules.Event?
  {
    rules.take(.init(changed: changed, keyboard: keyboard(state)), to: event, at: now)
  }

  /// There is no answer.
  mutating func fail(_ event: FocusRules.Event) -> FocusRules.Event? {
    rules.take(nil, to: event, at: now)
  }

  /// A field gets the focus in prepareToEditText, and its own event leads to editingText.
  static var editingByItself: Trial {
    var trial = Trial()
    _ = trial.gain()
    _ = trial.enter(editing)
    _ = trial.answer(.tapTextField, editing)
    return trial
  }

  /// Waits for the deadline, and checks that it is 150 ms away.
  mutating func loseForGood() -> FocusRules.Event? {
    let early = lose()
    #expect(early == nil)
    #expect(rules.deadline == now + .milliseconds(150))
    wait(150)
    return advance()
  }
}

@Suite("Acting: events for text fields")
struct FocusRulesTests {
  private static let otherStates = ["prepareToRecord", panel, "showingStickers"]

  @Test("a text field that gets the focus is tapped in prepareToEditText only")
  func gains() {
    var trial = Trial()
    #expect(trial.gain() == .tapTextField)
    for state in Self.otherStates + [editing] {
      trial = Trial(state)
      #expect(trial.gain() == nil, "\(state)")
    }
    trial = Trial(nil)
    #expect(trial.gain() == nil)
  }

  @Test("a text field that loses the focus closes nothing that another event opened")
  func losses() {
    for state in Self.otherStates + [editing, preparing] {
      var trial = Trial(panel)
      _ = trial.gain()
      trial.wait(1000)
      _ = trial.enter(state)
      #expect(trial.lose() == nil)
      #expect(trial.rules.deadline == nil)
      trial.wait(1000)
      #expect(trial.advance() == nil, "\(state)")
    }
  }

  @Test("editingText by its own event ends 150 ms after the last text field lost the focus")
  func boundary() {
    var trial = Trial.editingByItself
    #expect(trial.lose() == nil)
    trial.wait(149)
    #expect(trial.advance() == nil)
    #expect(trial.rules.deadline == trial.now + .milliseconds(1))
    trial.wait(1)
    #expect(trial.advance() == .tapBlankArea)
    #expect(trial.rules.deadline == nil, "once is enough")
    #expect(trial.advance() == nil)
  }

  @Test("another text field within 150 ms keeps editingText, and the time begins anew")
  func between() {
    var trial = Trial.editingByItself
    for _ in 1...3 {
      #expect(trial.lose() == nil)
      trial.wait(149)
      #expect(trial.gain() == nil)
      #expect(trial.rules.deadline == nil)
      trial.wait(1000)
      #expect(trial.advance() == nil)
    }
    #expect(trial.loseForGood() == .tapBlankArea)
  }

  @Test("the order of the answer and of the change does not matter", arguments: [true, false])
  func order(answerComesFirst: Bool) {
    var trial = Trial()
    #expect(trial.gain() == .tapTextField)
    if answerComesFirst {
      // The daemon's state is not known yet: it is what the rules think until the change comes.
      let answer = FocusRules.Answer(
        changed: true,
        keyboard: .init(state: editing, since: Time(microseconds: 2)))
      let after = trial.rules.take(answer, to: .tapTextField, at: trial.now)
      #expect(after == nil)
      #expect(trial.enter(editing) == nil)
    } else {
      #expect(trial.enter(editing) == nil)
      #expect(trial.answer(.tapTextField, editing) == nil)
    }
    #expect(trial.loseForGood() == .tapBlankArea)
  }

  @Test("a change of Shift does not matter, but any change of the keyboard ends what is its own")
  func ownership() {
    var trial = Trial.editingByItself
    _ = trial.repeatState(editing)
    #expect(trial.loseForGood() == .tapBlankArea)

    for detour in Self.otherStates + [preparing] {
      trial = Trial.editingByItself
      _ = trial.enter(detour)
      _ = trial.enter(editing)
      _ = trial.lose()
      #expect(trial.rules.deadline == nil, "\(detour)")
    }
  }

  @Test("an event that changed nothing, or led elsewhere, begins nothing of its own")
  func unchanged() {
    var trial = Trial()
    _ = trial.gain()
    _ = trial.enter(editing)
    _ = trial.answer(.tapTextField, changed: false, editing)
    _ = trial.lose()
    #expect(trial.rules.deadline == nil, "a key was faster")

    trial = Trial()
    _ = trial.gain()
    _ = trial.enter("writing")
    _ = trial.answer(.tapTextField, "writing")
    _ = trial.lose()
    #expect(trial.rules.deadline == nil, "a table of the user's own")
  }

  @Test("after a key has left editingText, only the next focus leads back")
  func leftByKey() {
    var trial = Trial.editingByItself
    trial.wait(10)
    #expect(trial.enter(preparing) == nil)
    #expect(trial.advance() == nil)
    trial.wait(1000)
    #expect(trial.advance() == nil)
    #expect(trial.lose() == nil)
    #expect(trial.gain() == .tapTextField)
  }

  @Test(
    "a field that got the focus just before prepareToEditText gets it then",
    arguments: [(0, true), (149, true), (150, false), (1000, false)])
  func justBefore(_ milliseconds: Int, _ counts: Bool) {
    for state in Self.otherStates {
      var trial = Trial(state)
      #expect(trial.gain() == nil)
      trial.wait(milliseconds)
      #expect(trial.enter(preparing) == (counts ? .tapTextField : nil), "\(state)")
    }
  }

  @Test("a field that got the focus in editingText, or was there before, does not get it again")
  func notJustBefore() {
    var trial = Trial(editing)
    _ = trial.gain()
    trial.wait(10)
    #expect(trial.enter(preparing) == nil, "a key has left editingText")

    trial = Trial(panel)
    _ = trial.gain()
    trial.wait(10)
    _ = trial.enter(editing)
    trial.wait(10)
    #expect(trial.enter(preparing) == nil)

    trial = Trial(panel)
    _ = trial.gain()
    trial.wait(10)
    _ = trial.lose()
    #expect(trial.enter(preparing) == nil, "it has lost the focus again")

    trial = Trial.editingByItself
    trial.wait(10)
    _ = trial.enter(panel)
    #expect(trial.enter(preparing) == nil, "its focus has led to an event already")
  }

  @Test("a field that gets the focus while tapBlankArea is on its way is tapped after it")
  func crossing() {
    for answerComesFirst in [true, false] {
      var trial = Trial.editingByItself
      #expect(trial.loseForGood() == .tapBlankArea)
      trial.wait(1)
      #expect(trial.gain() == nil)
      // However slow the daemon is.
      trial.wait(1000)
      if answerComesFirst {
        let answer = FocusRules.Answer(
          changed: true, keyboard: .init(state: preparing, since: Time(microseconds: 3)))
        let early = trial.rules.take(answer, to: .tapBlankArea, at: trial.now)
        #expect(early == nil)
        #expect(trial.enter(preparing) == .tapTextField)
      } else {
        #expect(trial.enter(preparing) == nil)
        #expect(trial.answer(.tapBlankArea, preparing) == .tapTextField)
      }
    }
  }

  @Test("a field that loses the focus while tapTextField is on its way is closed in time")
  func lostAtOnce() {
    var trial = Trial()
    #expect(trial.gain() == .tapTextField)
    trial.wait(1)
    #expect(trial.lose() == nil)
    let lost = trial.now
    trial.wait(50)
    _ = trial.enter(editing)
    _ = trial.answer(.tapTextField, editing)
    #expect(trial.rules.deadline == lost + .milliseconds(150))
    trial.wait(1000)
    #expect(trial.advance() == .tapBlankArea)
  }

  @Test("nothing is sent while an event is on its way, and its failure ends the wait")
  func failure() {
    var trial = Trial()
    #expect(trial.gain() == .tapTextField)
    #expect(trial.lose() == nil)
    #expect(trial.gain() == nil)
    #expect(trial.fail(.tapTextField) == .tapTextField)
    #expect(trial.fail(.tapTextField) == nil, "not again for the same focus")
    #expect(trial.advance() == nil)
  }

  @Test("what happens while the state is unknown counts when it is known")
  func unknown() {
    var trial = Trial()
    _ = trial.forgetState()
    trial.wait(1000)
    #expect(trial.gain() == nil)
    trial.wait(1000)
    #expect(trial.repeatState(preparing) == .tapTextField, "it got the focus meanwhile")

    trial = Trial(panel)
    _ = trial.gain()
    trial.wait(1000)
    _ = trial.forgetState()
    trial.wait(1000)
    #expect(trial.enter(preparing) == nil, "it had the focus before")

    trial = Trial(nil)
    #expect(trial.gain() == nil)
    trial.wait(1000)
    #expect(trial.enter(preparing) == .tapTextField, "from the start on")
  }

  @Test("what its own event began stays its own while the daemon is restarted")
  func restart() {
    var trial = Trial.editingByItself
    _ = trial.forgetState()
    #expect(trial.rules.deadline == nil)
    trial.wait(1000)
    _ = trial.repeatState(editing)
    #expect(trial.loseForGood() == .tapBlankArea)

    trial = Trial.editingByItself
    _ = trial.forgetState()
    _ = trial.lose()
    trial.wait(1000)
    #expect(trial.repeatState(editing) == nil, "as when a window has yet to get its focus back")
    #expect(trial.rules.deadline == trial.now + .milliseconds(150))
    #expect(trial.gain() == nil)
    #expect(trial.rules.deadline == nil)

    trial = Trial.editingByItself
    _ = trial.lose()
    trial.wait(100)
    _ = trial.forgetState()
    trial.wait(1000)
    #expect(trial.repeatState(editing) == nil, "the focus may have been lost to a lock screen")
    #expect(trial.rules.deadline == trial.now + .milliseconds(150))
    trial.wait(150)
    #expect(trial.advance() == .tapBlankArea)

    trial = Trial.editingByItself
    _ = trial.forgetState()
    _ = trial.enter(editing)
    _ = trial.lose()
    #expect(trial.rules.deadline == nil, "another event has begun it since")
  }

  @Test("an answer of a former daemon does not make the rules wait for its change")
  func lostMemory() {
    var trial = Trial()
    _ = trial.gain()
    _ = trial.forgetState()
    _ = trial.rules.take(.init(state: preparing, since: nil), at: trial.now)
    #expect(trial.answer(.tapTextField, editing) == nil)
    _ = trial.lose()
    #expect(trial.gain() == .tapTextField)
  }
}
