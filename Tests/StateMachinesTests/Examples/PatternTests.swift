import ObservedMachines
import StateMachines
import Testing

/// Two machines at once, as one value: a keyboard, and its Shift.
struct KeyboardWithShift: Rules {
  struct State { var keyboard: Keyboard, shift: Shift }
  enum Keyboard { case letters, emoji }
  enum Shift { case off, on }
  enum Event { case emojiPressed, shiftPressed, characterTyped }

  var initial: State { State(keyboard: .letters, shift: .off) }

  func next(_ state: State, on event: Event) -> State? {
    let keyboard = next(state.keyboard, on: event)
    let shift = next(state.shift, on: event)
    if keyboard == nil, shift == nil { return nil }
    return State(keyboard: keyboard ?? state.keyboard, shift: shift ?? state.shift)
  }

  private func next(_ keyboard: Keyboard, on event: Event) -> Keyboard? {
    switch (keyboard, event) {
    case (.letters, .emojiPressed): .emoji
    case (.emoji, .emojiPressed): .letters
    case (_, .shiftPressed), (_, .characterTyped): nil
    }
  }

  private func next(_ shift: Shift, on event: Event) -> Shift? {
    switch (shift, event) {
    case (.off, .shiftPressed): .on
    case (.on, .shiftPressed), (.on, .characterTyped): .off
    case (.off, .characterTyped), (_, .emojiPressed): nil
    }
  }
}

/// A phase within a phase: a call, which has phases of its own while it is connected.
struct Call: Rules {
  enum State: Equatable { case ringing, connected(Talk), ended }
  enum Talk { case talking, muted }
  enum Event { case answered, muteToggled, hungUp }

  var initial: State { .ringing }

  func next(_ state: State, on event: Event) -> State? {
    switch (state, event) {
    case (.ringing, .answered): .connected(.talking)
    case (.connected(.talking), .muteToggled): .connected(.muted)
    case (.connected(.muted), .muteToggled): .connected(.talking)
    // One row leaves the outer phase, whichever inner one it is in.
    case (.ringing, .hungUp), (.connected, .hungUp): .ended
    case (.ringing, .muteToggled), (.connected, .answered): nil
    case (.ended, .answered), (.ended, .muteToggled), (.ended, .hungUp): nil
    }
  }
}

/// A drawing, which is not `Sendable`: only the actor that owns the machine has it.
final class Canvas { var strokes = 0 }

/// Rules whose payload is an object that changes.
struct Drawing: Rules {
  enum State { case blank, drawing(Canvas) }
  enum Event { case begun(Canvas), wiped }

  var initial: State { .blank }

  func next(_ state: State, on event: Event) -> State? {
    switch (state, event) {
    case (.blank, .begun(let canvas)): .drawing(canvas)
    case (.drawing, .wiped): .blank
    case (.blank, .wiped), (.drawing, .begun): nil
    }
  }
}

extension Drawing.State {
  var canvas: Canvas? { if case .drawing(let canvas) = self { canvas } else { nil } }
}

actor Easel {
  private let machine = ObservedMachine(Drawing())
  var strokes: Int? { machine.state.canvas?.strokes }

  func draw() {
    machine.send(.begun(Canvas()))
    machine.state.canvas?.strokes += 1
  }
}

/// A turnstile with a price: the guard of a row is a `where`.
struct PaidTurnstile: Rules {
  enum State: Equatable { case locked(paid: Int), unlocked }
  enum Event { case coin(Int), push }

  let price: Int
  var initial: State { .locked(paid: 0) }

  func next(_ state: State, on event: Event) -> State? {
    switch (state, event) {
    case (.locked(let paid), .coin(let coin)) where paid + coin >= price: .unlocked
    case (.locked(let paid), .coin(let coin)): .locked(paid: paid + coin)
    case (.unlocked, .push): .locked(paid: 0)
    case (.locked, .push), (.unlocked, .coin): nil
    }
  }
}

@Suite("Example: patterns")
struct PatternTests {
  @Test("an event reaches both machines, and is ignored only if both ignore it")
  func parallel() {
    var machine = StateMachine(KeyboardWithShift())
    machine.send(.shiftPressed)
    machine.send(.emojiPressed)
    #expect(machine.state.keyboard == .emoji && machine.state.shift == .on)
    machine.send(.characterTyped)
    #expect(machine.state.keyboard == .emoji && machine.state.shift == .off)
    #expect(machine.send(.characterTyped) == nil)
  }

  @Test("a payload need not be Sendable where one actor owns the machine")
  func payloadOfOneActor() async {
    let easel = Easel()
    await easel.draw()
    await easel.draw()
    #expect(await easel.strokes == 2)
  }

  @Test("a row may have a guard")
  func guards() {
    var turnstile = StateMachine(PaidTurnstile(price: 3))
    turnstile.send(.coin(2))
    #expect(turnstile.state == .locked(paid: 2))
    turnstile.send(.coin(1))
    #expect(turnstile.state == .unlocked)
  }

  @Test("an inner phase changes within its outer one, which leaves it wherever it is")
  func nested() {
    for toggles in 0...2 {
      var machine = StateMachine(Call())
      machine.send(.answered)
      for _ in 0..<toggles { machine.send(.muteToggled) }
      #expect(machine.state == .connected(toggles == 1 ? .muted : .talking))
      machine.send(.hungUp)
      #expect(machine.state == .ended)
    }
  }
}
