/// Which object of the desktop has the focus, and whether it is a text field.
///
/// There is one focus for all programs: an object that gets it takes it from any other. So a program
/// that hangs, and never tells that it has lost the focus, does not keep it. Whether the object is a
/// text field is asked, and not known until its program has answered.
///
/// | event         | the object with the focus | another object, or none                        |
/// | ------------- | ------------------------- | ---------------------------------------------- |
/// | focused       | nothing: GTK 3 says it twice | it has the focus, and its program is asked  |
/// | unfocused     | none has the focus        | nothing                                        |
/// | answered      | a text field, or not      | nothing: the answer is late                    |
/// | removed       | none has the focus        | the same as deactivated, for the active window |
/// | deactivated   | none, if the window is the program's active one | nothing                  |
/// | programLeft   | none has the focus        | nothing                                        |
struct FocusedObject: Hashable, Sendable {
  /// What AT-SPI tells.
  enum Event: Hashable, Sendable {
    /// The object got the focus.
    case focused(AccessibleObject)
    /// The object lost the focus.
    case unfocused(AccessibleObject)
    /// The object's program has said whether it is a text field.
    case answered(AccessibleObject, isTextField: Bool)
    /// The object is gone.
    case removed(AccessibleObject)
    /// The window is in front now.
    case activated(window: AccessibleObject)
    /// The window is no longer in front.
    case deactivated(window: AccessibleObject)
    /// The program has left the accessibility bus.
    case programLeft(String)
    /// The accessibility bus is gone, and all programs with it.
    case busLost
  }

  /// The object that has the focus.
  enum State: Hashable, Sendable {
    /// No object, or one that does not speak AT-SPI.
    case none
    /// Its program has not answered yet.
    case asked(AccessibleObject)
    /// It is a text field.
    case textField(AccessibleObject)
    /// It is not.
    case other(AccessibleObject)

    /// The object, whatever it is.
    var object: AccessibleObject? {
      switch self {
      case .none: nil
      case .asked(let object), .textField(let object), .other(let object): object
      }
    }

    /// The object, if it is a text field.
    var textField: AccessibleObject? {
      if case .textField(let object) = self { object } else { nil }
    }
  }

  private(set) var state = State.none
  /// The window that was the last one to come to the front, if it has not left it since.
  private(set) var activeWindow: AccessibleObject?

  /// Takes what AT-SPI tells.
  mutating func take(_ event: Event) {
    state = next(on: event)
    switch event {
    case .activated(let window): activeWindow = window
    case .deactivated(let window), .removed(let window):
      if window == activeWindow { activeWindow = nil }
    case .programLeft(let program): if program == activeWindow?.program { activeWindow = nil }
    case .busLost: activeWindow = nil
    case .focused, .unfocused, .answered: break
    }
  }

  private func next(on event: Event) -> State {
    switch event {
    case .focused(let object): object == state.object ? state : .asked(object)
    case .unfocused(let object): object == state.object ? .none : state
    // GTK 4 tells nothing else of a closed window, and may keep the objects in it.
    case .removed(let object):
      object == state.object || object == activeWindow && losesFocus(deactivating: object)
        ? .none : state
    case .answered(let object, let isTextField):
      state == .asked(object) ? isTextField ? .textField(object) : .other(object) : state
    // The new window's focus tells more, and comes before this with some toolkits.
    case .activated: state
    case .deactivated(let window): losesFocus(deactivating: window) ? .none : state
    case .programLeft(let program): program == state.object?.program ? .none : state
    case .busLost: .none
    }
  }

  /// Whether the focus was in this window. Qt brings a window of a program to the front before it
  /// deactivates the former one; the focus is then in the new one.
  private func losesFocus(deactivating window: AccessibleObject) -> Bool {
    guard window.program == state.object?.program else { return false }
    return activeWindow?.program != window.program || activeWindow == window
  }
}
