import Testing

@testable import Acting

private let field = AccessibleObject(program: ":1.1", path: "/field")
private let button = AccessibleObject(program: ":1.1", path: "/button")
private let window = AccessibleObject(program: ":1.1", path: "/window")
private let secondWindow = AccessibleObject(program: ":1.1", path: "/window/2")
private let foreign = AccessibleObject(program: ":1.2", path: "/field")
private let foreignWindow = AccessibleObject(program: ":1.2", path: "/window")

private func focus(_ events: [FocusedObject.Event]) -> FocusedObject {
  var focus = FocusedObject()
  for event in events { focus.take(event) }
  return focus
}

@Suite("Acting: the object that has the focus")
struct FocusedObjectTests {
  /// The ways into each state, each with the program's first window active.
  private static let states: [[FocusedObject.Event]] = [
    [.activated(window: window)],
    [.activated(window: window), .focused(field)],
    [.activated(window: window), .focused(field), .answered(field, isTextField: true)],
    [.activated(window: window), .focused(field), .answered(field, isTextField: false)],
  ]

  /// Each event, and the states after it in the states above.
  private static let pairs: [(FocusedObject.Event, [FocusedObject.State])] = [
    (.focused(field), [.asked(field), .asked(field), .textField(field), .other(field)]),
    (.focused(button), [.asked(button), .asked(button), .asked(button), .asked(button)]),
    (.focused(foreign), [.asked(foreign), .asked(foreign), .asked(foreign), .asked(foreign)]),
    (.unfocused(field), [.none, .none, .none, .none]),
    (.unfocused(button), [.none, .asked(field), .textField(field), .other(field)]),
    // The same path in another program.
    (.unfocused(foreign), [.none, .asked(field), .textField(field), .other(field)]),
    (
      .answered(field, isTextField: true),
      [.none, .textField(field), .textField(field), .other(field)]
    ),
    (
      .answered(field, isTextField: false),
      [.none, .other(field), .textField(field), .other(field)]
    ),
    (
      .answered(foreign, isTextField: true),
      [.none, .asked(field), .textField(field), .other(field)]
    ),
    (.removed(field), [.none, .none, .none, .none]),
    (.removed(window), [.none, .none, .none, .none]),
    (.removed(secondWindow), [.none, .asked(field), .textField(field), .other(field)]),
    (.removed(foreign), [.none, .asked(field), .textField(field), .other(field)]),
    (.activated(window: foreignWindow), [.none, .asked(field), .textField(field), .other(field)]),
    (.deactivated(window: window), [.none, .none, .none, .none]),
    // Another window of the program is in front.
    (.deactivated(window: secondWindow), [.none, .asked(field), .textField(field), .other(field)]),
    (
      .deactivated(window: foreignWindow), [.none, .asked(field), .textField(field), .other(field)]
    ),
    (.programLeft(":1.1"), [.none, .none, .none, .none]),
    (.programLeft(":1.2"), [.none, .asked(field), .textField(field), .other(field)]),
    (.busLost, [.none, .none, .none, .none]),
  ]

  @Test("each event leads each state to the state of the table", arguments: pairs)
  func table(_ event: FocusedObject.Event, _ expected: [FocusedObject.State]) {
    for (before, after) in zip(Self.states, expected) {
      #expect(focus(before + [event]).state == after, "\(before)")
    }
  }

  @Test("the order in which toolkits tell of a new window does not matter")
  func orders() {
    let start = Self.states[2]
    let other = AccessibleObject(program: ":1.1", path: "/other")
    let told: [FocusedObject.Event] = [.focused(other), .answered(other, isTextField: true)]
    let gtk3 =
      [.deactivated(window: window), .unfocused(field), .activated(window: secondWindow)]
      + told
    let gtk4 =
      [.unfocused(field), .deactivated(window: window)] + told
      + [.activated(window: secondWindow)]
    let qt = [.activated(window: secondWindow)] + told + [.deactivated(window: window)]
    for events in [gtk3, gtk4, qt] {
      let after = focus(start + events)
      #expect(after.state == .textField(other))
      #expect(after.activeWindow == secondWindow)
    }
  }

  @Test("a program that tells of no window loses the focus with any of its windows")
  func unknownWindow() {
    #expect(focus([.focused(field), .deactivated(window: window)]).state == .none)
    let behind: [FocusedObject.Event] = [.activated(window: foreignWindow), .focused(field)]
    #expect(focus(behind + [.deactivated(window: window)]).state == .none)
  }

  @Test(
    "a window that is gone is not the active one",
    arguments: [
      .deactivated(window: window), .removed(window), .programLeft(":1.1"), .busLost,
    ] as [FocusedObject.Event])
  func goneWindow(_ event: FocusedObject.Event) {
    #expect(focus([.activated(window: window), event]).activeWindow == nil)
    let other = focus([.activated(window: foreignWindow), event]).activeWindow
    #expect(other == (event == .busLost ? nil : foreignWindow))
  }

  @Test("a program that hangs does not keep the focus, and its late answer counts for nothing")
  func hanging() {
    let focus = focus([
      .focused(field), .focused(foreign), .answered(foreign, isTextField: true),
      .answered(field, isTextField: false), .unfocused(field),
    ])
    #expect(focus.state == .textField(foreign))
  }
}
