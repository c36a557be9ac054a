import KeyboardModes
import System
import Terminal
import Wire

/// The states in memory that outlives the daemon, so that a restart keeps them.
///
/// One of two slots is current. The current slot has the last message for subscribers, then a JSON
/// object for the next daemon alone, and a NUL. The end of older, longer contents may follow.
final class StateStore {
  /// The data from which the next daemon continues.
  struct Contents: Hashable {
    let state: StateMessage
    /// The state of the Shift machine; ``state`` has only the name of this state.
    let shift: ShiftRules.State
    /// See ``Controller/Snapshot/shiftFoundTime``.
    let shiftFoundTime: Time?
    let awaitedReleases: [AwaitedRelease]
    /// The last changes, in order: a daemon may be killed before it has sent them.
    let changes: [Change]

    var snapshot: Controller.Snapshot {
      Controller.Snapshot(
        states: state.states, shift: shift, shiftFoundTime: shiftFoundTime,
        awaitedReleases: awaitedReleases)
    }
  }

  /// The store keeps the awaited releases of at most this many keys; more are hardly ever awaited.
  private static let maxAwaitedKeys = 6

  /// How many of the last changes are kept. One release of a key can cause this many: a tap and a
  /// release for each machine that has keys.
  static let maxChanges = 2 * (1 + MachineName.maxOwnMachines)

  /// What the previous daemon left; `nil` if that is invalid or missing.
  let contents: Contents?

  private let slots: MemorySlots

  /// The object that was written last; the next one reuses its memory. Unchecked for speed: see
  /// `EventLoop`.
  @exclusivity(unchecked) private var bytes: [UInt8] = []

  /// The store in a file in memory. Throws if the file cannot be mapped.
  init(_ file: borrowing FileDescriptor) throws(SystemError) {
    slots = try MemorySlots(file)
    let parts = slots.bytes.split(separator: 0, maxSplits: 2, omittingEmptySubsequences: false)
    contents = parts.count == 3 ? Contents(parts[0], parts[1]) : nil
  }

  /// Replaces the states. They are kept once this returns.
  ///
  /// - Parameter message: a reply of `Monitor` with at most ``maxChanges`` changes, and its NUL.
  func commit(_ message: [UInt8], _ snapshot: Controller.Snapshot) {
    bytes.removeAll(keepingCapacity: true)
    bytes.appendJSON { json in
      json.object { json in
        if case .on(let since) = snapshot.shift { json.member("pressed", since) }
        if let found = snapshot.shiftFoundTime { json.member("found", found) }
        json.name("awaitedReleases")
        json.open("[")
        var keys: Set<KeyCode> = []
        for release in snapshot.awaitedReleases {
          guard keys.contains(release.key) || keys.count < Self.maxAwaitedKeys else { continue }
          keys.insert(release.key)
          json.object { json in
            json.member("key", Int64(release.key.number))
            json.member("machine", release.machine.rawValue)
            json.member("event", release.event)
          }
        }
        json.close("]")
      }
    }
    bytes.append(0)
    slots.replace(with: message, bytes)
  }
}

extension StateStore.Contents {
  /// Reads contents; `nil` if they are invalid.
  fileprivate init?(_ message: some Collection<UInt8>, _ object: some Collection<UInt8>) {
    guard let reply = try? Reply(parsing: Array(message)), let json = try? JSON(parsing: object),
      let message = MonitorReply(reply.parameters),
      0...Change.maxSequence ~= message.state.states.sequence,
      let releases = json["awaitedReleases"]?.elements(AwaitedRelease.init)
    else { return nil }
    let (state, changes) = (message.state, message.changes)
    let pressed = json["pressed"]?.integer.map(Time.init(microseconds:))
    let shifts: [ShiftRules.State] = [.off, .on(since: pressed), .capsLock]
    guard let shift = shifts.first(where: { $0.name == state.states[.shift] }) else { return nil }
    // States with longer names might not fit into a slot.
    let names =
      [state.instance] + releases.map(\.event)
      + state.states.entries.flatMap { [$0.machine.rawValue, $0.state] }
    guard names.allSatisfy({ $0.utf8.count <= CompiledTable.maxNameBytes }) else { return nil }
    let last = state.states.sequence
    guard zip(changes.reversed(), 0...).allSatisfy({ $0.sequence == last - $1 }) else { return nil }
    self.init(
      state: state, shift: shift,
      shiftFoundTime: json["found"]?.integer.map(Time.init(microseconds:)),
      awaitedReleases: releases, changes: changes)
  }
}

extension AwaitedRelease {
  fileprivate init?(_ json: JSON) {
    guard let key = json["key"]?.integer.flatMap(KeyCode.init), let event = json["event"]?.string,
      let machine = json["machine"]?.string
    else { return nil }
    self.init(key: key, machine: MachineName(rawValue: machine), event: event)
  }
}
