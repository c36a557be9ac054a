/// Something that was asked to be called; it is called until this is ended.
public final class Registration {
  fileprivate private(set) var isEnded = false

  /// Ends it: from now on nothing is called, not even in the step that is under way.
  public func end() { isEnded = true }
}

/// Those who asked to be called, in the order of asking.
struct Registrations<Callback> {
  private var entries: [(registration: Registration, callback: Callback)] = []

  mutating func add(_ callback: Callback) -> Registration {
    entries.removeAll { $0.registration.isEnded }
    let registration = Registration()
    entries.append((registration, callback))
    return registration
  }

  /// Calls all that are there now; who is added by one of them is called the next time.
  func forEach(_ call: (Callback) -> Void) {
    for entry in entries where !entry.registration.isEnded { call(entry.callback) }
  }
}
