import Testing

@testable import KeyboardModes

private func at(_ milliseconds: Int64) -> Time { Time(microseconds: milliseconds * 1000) }

private func deviceKey(_ name: String, _ device: Int = 0) throws -> DeviceKey {
  DeviceKey(DeviceID(order: device), try key(name))
}

/// The values of which a controller consists, each by itself.
@Suite("The values of a controller")
struct ControllerValuesTests {
  // MARK: The waiting tap

  private enum TapStep { case press, release, otherRelease, resume, otherResume, forget }

  private static let taps:
    [(debounce: Int64, steps: [(TapStep, Int64)], due: Int64?, tap: Int64?)] =
      [
        (0, [], nil, nil),
        (0, [(.press, 10)], nil, nil),
        (0, [(.press, 10), (.release, 209)], 209, 10),
        (0, [(.press, 10), (.release, 210)], nil, nil),
        (0, [(.press, 10), (.otherRelease, 20)], nil, nil),
        (0, [(.press, 10), (.press, 50), (.release, 220)], 220, 50),
        (0, [(.press, 10), (.forget, 20), (.release, 30)], nil, nil),
        (5, [(.press, 10), (.release, 20)], 25, 10),
        (5, [(.press, 10), (.release, 20), (.resume, 22)], nil, nil),
        (5, [(.press, 10), (.release, 20), (.otherResume, 22)], 25, 10),
        (5, [(.press, 10), (.release, 20), (.resume, 22), (.release, 30)], 35, 10),
        (5, [(.press, 10), (.release, 20), (.resume, 22), (.release, 210)], nil, nil),
        (5, [(.press, 10), (.release, 20), (.forget, 22)], nil, nil),
      ]

  @Test("a press of Shift waits until it is a tap or cannot become one", arguments: taps.indices)
  func waitingTap(_ index: Int) throws {
    let (debounce, steps, due, pressed) = Self.taps[index]
    let (shift, other) = (try deviceKey("LEFTSHIFT"), try deviceKey("LEFTSHIFT", 1))
    var tap = WaitingTap(Settings(debounce: .milliseconds(debounce)))
    for (step, time) in steps {
      switch step {
      case .press: tap.press(shift, at: at(time))
      case .release: tap.release(shift, at: at(time))
      case .otherRelease: tap.release(other, at: at(time))
      case .resume: #expect(tap.resume(shift) == true)
      case .otherResume: #expect(tap.resume(other) == false)
      case .forget: tap.forget()
      }
    }
    #expect(tap.due == due.map(at))
    #expect(tap.settle() == pressed.map(at))
    #expect(tap.settle() == nil, "a tap counts once")
    #expect(pressed == nil || tap.isEmpty)
  }

  // MARK: Open Shifts

  @Test(
    "the earliest press of Shift that is down is taken back, and then nothing is open",
    arguments: [
      ("", nil), ("L+", "off"), ("L+ L-", nil), ("L+ R+", "off"), ("L+ R+ L-", "on"),
      ("L+ R+ R-", "off"), ("L+ L+", "on"), ("L+ R+ L+", "on"), ("L+ L~", nil),
      ("L+ R+ L~", "on"), ("L+ L~ L^", "off"), ("L+ R+ L~ L^", "off"), ("L^", nil),
      ("L+ R+ x", nil), ("L+ gone", nil), ("L+ R+ gone", "on"),
    ] as [(String, String?)])
  func openShifts(_ line: String, _ taken: String?) throws {
    // Each press sees another state: the first `off`, the others `on`.
    var before = ShiftRules.State.off
    var shifts = OpenShifts()
    for step in line.split(separator: " ") {
      let key = step.first == "L" ? try deviceKey("LEFTSHIFT") : try deviceKey("RIGHTSHIFT", 1)
      switch step.last {
      case "+":
        shifts.press(key, before: before, due: nil)
        before = .on(since: nil)
      case "-": shifts.release(key, mayBounce: false)
      case "~": shifts.release(key, mayBounce: true)
      case "^": shifts.resume(key)
      case "x": shifts.removeAll()
      default: shifts.remove(DeviceID(order: 0))
      }
    }
    #expect(shifts.takeBack(at: at(0))?.name == taken)
    #expect(shifts.takeBack(at: at(0)) == nil)
  }

  // MARK: Held keys

  @Test("releases are forgotten when debouncing is turned off")
  func forgottenReleases() throws {
    var keys = HeldKeys(debounce: .milliseconds(5))
    let a = try deviceKey("A")
    _ = (keys.press(a, at: at(0)), keys.release(a, at: at(10)))
    keys.setDebounce(.zero)
    keys.setDebounce(.milliseconds(5))
    #expect(!keys.isBounce(a, at: at(12)))
  }

  @Test("a press tells which modifiers other keys hold on any device, unless it is a bounce")
  func heldKeys() throws {
    var keys = HeldKeys(debounce: .milliseconds(5))
    let (ctrl, right) = (try deviceKey("LEFTCTRL"), try deviceKey("RIGHTCTRL"))
    let (alt, a) = (try deviceKey("LEFTALT", 1), try deviceKey("A"))
    #expect(keys.press(ctrl, at: at(0)) == [])
    #expect(keys.press(alt, at: at(0)) == .ctrl)
    #expect(keys.press(ctrl, at: at(0)) == .alt, "not by the key itself")
    #expect(keys.press(right, at: at(0)) == [.ctrl, .alt])
    #expect(keys.release(ctrl, at: at(10)) == true)
    #expect(keys.release(ctrl, at: at(10)) == false, "it is up")
    #expect(keys.press(a, at: at(10)) == [.ctrl, .alt])
    keys.consume(a)
    #expect(keys.press(ctrl, at: at(14)) == nil, "a bounce")
    #expect(keys.release(right, at: at(20)) == true)
    #expect(keys.release(a, at: at(20)) == true)
    #expect(!keys.isConsumed(a))
    #expect(keys.modifiers(without: a) == [.ctrl, .alt], "the bounce holds Ctrl again")
    #expect(keys.isBounce(a, at: at(24)) && !keys.isBounce(a, at: at(25)))
    #expect(keys.press(a, at: at(24)) == nil)
    #expect(keys.isConsumed(a), "as before its release")
    keys.remove(ctrl.device)
    #expect(keys.modifiers(without: a) == .alt && !keys.isDown(a))
  }

  // MARK: Open uses

  @Test("every release that was begun is returned once, whichever way its use ends")
  func openUses() throws {
    let settings = try Settings(text: "F9 release, F9 tap")
    let release = try #require(settings.keyboard.event(named: "release"))
    let uses = try #require(settings.bindings[try Chord([key("F9")])])
    let f9 = try deviceKey("F9")
    let ends: [(inout OpenUses) -> [TimedEvent]] = [
      { $0.release(f9, at: at(300)) }, { $0.end(on: f9.device, at: at(300)) },
      { $0.end(pressedAgain: f9, at: at(300)) },
      { $0.rebind(from: settings.keyboard, to: Settings(), at: at(300)) },
    ]
    for end in ends {
      var open = OpenUses(settings)
      open.begin(uses, f9, at: at(0), wasSeen: true)
      #expect(open.nextCheck == at(250) && open.due == nil && !open.isEmpty)
      #expect(open.awaited(in: settings.keyboard).map(\.event) == ["release"])
      #expect(end(&open) == [TimedEvent(event: release, time: at(300))])
      #expect(end(&open) == [])
      #expect(open.isEmpty && open.nextCheck == nil)
      #expect(open.awaited(in: settings.keyboard) == [])
    }
  }
}
