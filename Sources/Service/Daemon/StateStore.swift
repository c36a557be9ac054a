import KeyboardModes
import System
import Terminal
import Wire

/// The states in memory that outlives the daemon, so that a restart keeps them.
///
/// They are a JSON object and a NUL in one of two slots; the rest of an older object may follow.
final class StateStore {
  /// What the next daemon continues from.
  struct Contents: Hashable {
    let state: StateMessage
    /// The state of the Shift machine, which knows more than its name in ``state``.
    let shift: ShiftRules.State
    /// See ``Controller/Snapshot/shiftFound``.
    let shiftFound: Time?
    let awaitedReleases: [AwaitedRelease]
    /// The last changes, in order: a daemon may be killed before it has sent them.
    let changes: [Change]

    var snapshot: Controller.Snapshot {
      Controller.Snapshot(
        modes: state.modes, shift: shift, shiftFound: shiftFound, awaitedReleases: awaitedReleases)
    }
  }

  /// How many awaited releases are kept. More are hardly ever awaited at once.
  private static let mostReleases = 6

  /// How many of the last changes are kept. One input seldom makes more.
  private static let mostChanges = 8

  /// What the previous daemon left; `nil` if it is invalid, or if there was none.
  let contents: Contents?

  private let slots: MemorySlots

  /// The states that were written last; the next ones reuse their memory.
  private var bytes: [UInt8] = []

  /// The store in a file in memory. Throws if the file cannot be mapped.
  init(_ file: borrowing FileDescriptor) throws(SystemError) {
    slots = try MemorySlots(file)
    let json = try? JSON(parsing: slots.bytes.prefix { $0 != 0 })
    contents = json.flatMap(Contents.init)
  }

  /// Replaces the states. They are kept once this returns.
  ///
  /// - Parameters:
  ///   - count: how many of the last changes to keep, as far as the ring has them.
  ///   - ring: the changes that led to the states.
  func commit(
    _ state: StateMessage, _ snapshot: Controller.Snapshot, last count: Int, of ring: ChangeRing
  ) {
    let count = min(count, Self.mostChanges, ring.count)
    bytes.removeAll(keepingCapacity: true)
    bytes.appendJSON { json in
      json.object { json in
        json.member("state", state)
        if case .on(let since) = snapshot.shift { json.member("pressed", since) }
        if let found = snapshot.shiftFound { json.member("found", found) }
        json.name("awaitedReleases")
        json.open("[")
        for release in snapshot.awaitedReleases.prefix(Self.mostReleases) {
          json.object { json in
            json.member("key", Int64(release.key.number))
            json.member("event", release.event)
          }
        }
        json.close("]")
        json.name("changes")
        json.open("[")
        for change in ring.changes(after: ring.latest - Int64(count), upTo: ring.latest) {
          change.write(to: &json)
        }
        json.close("]")
      }
    }
    bytes.append(0)
    slots.replace(with: bytes)
  }
}

extension StateStore.Contents {
  /// Reads contents; `nil` if they are invalid.
  init?(_ json: JSON) {
    guard let state = json["state"].flatMap(StateMessage.init),
      0...Change.greatestSequence ~= state.modes.sequence,
      let releases = json["awaitedReleases"]?.elements(AwaitedRelease.init),
      let changes = json["changes"]?.elements(Change.init)
    else { return nil }
    let pressed = json["pressed"]?.integer.map(Time.init(microseconds:))
    let shifts: [ShiftRules.State] = [.off, .on(since: pressed), .capsLock]
    guard let shift = shifts.first(where: { $0.name == state.modes.shift }) else { return nil }
    // States with longer names might not fit into a slot.
    let names = [state.instance, state.modes.keyboard] + releases.map(\.event)
    guard names.allSatisfy({ $0.utf8.count <= KeyboardTable.longestName }) else { return nil }
    let last = state.modes.sequence
    guard zip(changes.reversed(), 0...).allSatisfy({ $0.sequence == last - $1 }) else { return nil }
    self.init(
      state: state, shift: shift, shiftFound: json["found"]?.integer.map(Time.init(microseconds:)),
      awaitedReleases: releases, changes: changes)
  }
}

extension AwaitedRelease {
  fileprivate init?(_ json: JSON) {
    guard let key = json["key"]?.integer.flatMap(KeyCode.init), let event = json["event"]?.string
    else { return nil }
    self.init(key: key, event: event)
  }
}
