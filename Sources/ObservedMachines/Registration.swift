/// Something that was asked to be called; it is called until this is ended, or the machine goes.
public final class Registration {
  private var letGo: (() -> Void)?

  fileprivate init(_ letGo: @escaping () -> Void) { self.letGo = letGo }

  /// Ends it: from now on nothing is called, not even in the step that is under way, and what was to
  /// be called is let go.
  public func end() {
    letGo?()
    letGo = nil
  }
}

/// Those who asked to be called, in the order of asking.
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

  /// Calls all who are there now, and are still when it is their turn.
  func forEach(_ call: (Callback) -> Void) {
    for entry in entries {
      if let callback = entry.callback { call(callback) }
    }
  }
}
