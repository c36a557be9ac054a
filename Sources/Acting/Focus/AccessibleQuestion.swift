import Systemd

/// What a program on the accessibility bus is asked about one of its objects: nothing else. No code of
/// this project asks for a name, a text, a description or a place.
enum AccessibleQuestion {
  /// Its states, such as whether it can be edited.
  case states
  /// Its role, such as a button.
  case role

  /// The call that asks.
  func call(_ object: AccessibleObject) -> BusCall {
    BusCall(
      to: object.program, path: object.path, interface: "org.a11y.atspi.Accessible",
      member: self == .states ? "GetState" : "GetRole")
  }
}

/// The states of an object, as two words of bits; see `AtspiStateType`.
struct AccessibleStates: Hashable {
  private let words: [UInt32]

  /// Reads the answer to ``AccessibleQuestion/states``; `nil` if it is not a list of words.
  init?(_ answer: [BusValue]) {
    guard answer.count == 1, let elements = answer[0].elements else { return nil }
    var words: [UInt32] = []
    for case .uint32(let word) in elements { words.append(word) }
    guard words.count == elements.count else { return nil }
    self.words = words
  }

  /// Whether its text can be edited, as far as the object knows.
  var isEditable: Bool { has(7) && !has(43) }

  private func has(_ bit: Int) -> Bool {
    words.indices.contains(bit / 32) && words[bit / 32] >> (bit % 32) & 1 != 0
  }
}

/// The role of an object; see `AtspiRole`.
struct AccessibleRole: Hashable {
  private let number: UInt32

  /// Reads the answer to ``AccessibleQuestion/role``; `nil` if it is not a number.
  init?(_ answer: [BusValue]) {
    guard answer.count == 1, case .uint32(let number) = answer[0] else { return nil }
    self.number = number
  }

  /// Whether it is a terminal, which takes what is typed without having a text that can be edited.
  var isTerminal: Bool { number == 60 }
}

/// The signals of programs that tell of the focus.
enum FocusSignal: CaseIterable {
  case focused, activated, deactivated
  /// GTK 4 writes the members of windows' signals in lower case.
  case activatedInLowerCase, deactivatedInLowerCase

  /// The events to register for, so that programs send their signals.
  static let registered = ["object:state-changed:focused", "window:activate", "window:deactivate"]

  private static let interface = "org.a11y.atspi.Event"

  /// Which signals to receive. Nothing else of what programs tell wakes this one.
  var match: BusMatch {
    switch self {
    case .focused:
      BusMatch(
        interface: "\(Self.interface).Object", member: "StateChanged", firstArgument: "focused")
    case .activated: BusMatch(interface: "\(Self.interface).Window", member: "Activate")
    case .deactivated: BusMatch(interface: "\(Self.interface).Window", member: "Deactivate")
    case .activatedInLowerCase: BusMatch(interface: "\(Self.interface).Window", member: "activate")
    case .deactivatedInLowerCase:
      BusMatch(interface: "\(Self.interface).Window", member: "deactivate")
    }
  }

  /// The signal that tells that an object is gone.
  static func removal(of object: AccessibleObject) -> BusMatch {
    BusMatch(
      sender: object.program, path: object.path, interface: "\(interface).Object",
      member: "StateChanged", firstArgument: "defunct")
  }

  /// What a signal tells; `nil` if it is malformed. Of its arguments only the number is read: those
  /// of a window have its title, too.
  func event(_ signal: BusSignal) -> FocusedObject.Event? {
    guard let program = signal.sender else { return nil }
    let object = AccessibleObject(program: program, path: signal.path)
    switch self {
    case .focused:
      guard signal.arguments.count > 1, case .int32(let value) = signal.arguments[1] else {
        return nil
      }
      return value == 0 ? .unfocused(object) : .focused(object)
    case .activated, .activatedInLowerCase: return .activated(window: object)
    case .deactivated, .deactivatedInLowerCase: return .deactivated(window: object)
    }
  }
}
