/// The registration of a callback, which lasts until ``end()`` or until the machine is deallocated.
public final class Registration {
  private var letGo: (() -> Void)?

  init(_ letGo: @escaping () -> Void) { self.letGo = letGo }

  /// Ends the registration: the callback is released and not called again, not even in the step
  /// that is under way.
  public func end() {
    letGo?()
    letGo = nil
  }
}

/// The registered callbacks, in the order of registration.
struct Registrations<Callback> {
  private final class Entry {
    var callback: Callback?
    init(_ callback: Callback) { self.callback = callback }
  }

  private var entries: [Entry] = []

  mutating func add(_ callback: Callback) -> Registration {
    entries.removeAll { $0.callback == nil }
    let entry = Entry(callback)
    entries.append(entry)
    return Registration { entry.callback = nil }
  }

  /// Calls the callbacks that are registered now, except those whose registration ends before their
  /// call.
  func forEach(_ call: (Callback) -> Void) {
    for entry in entries {
      if let callback = entry.callback { call(callback) }
    }
  }
}
