/// Recent releases of keys, whose switches may still bounce (``Settings/debounce``, `d`).
///
///     P--R-P---------R-P-R        P: the kernel's press, R: its release, R-P less than d apart
///     ^ pressed          ^ up     the controller counts one press
///
/// A press takes effect at once, as in the firmware of good keyboards ("eager" debouncing): the
/// events after it are not known yet. A release also takes effect at once for all other keys: a
/// bounce may never come, other programs do not wait either, and debouncing must change nothing
/// where no switch bounces. A press less than `d` after the release undoes the release: it is not a
/// new press, and the key is in the same state as if it had been down throughout. So held keys,
/// chords and autorepeat never have to wait.
///
/// A release causes a change only for a tap of Shift (``WaitingTap``), and for a chord with a tap
/// or a release. A change cannot be undone, so the release *waits*: it counts `d` later, or before
/// the next press of another key. A tap of Shift also counts before a program's event for Shift or
/// the keyboard, and before an autorepeat that types. The wait changes no time of a tap or release.
struct Debouncer: Sendable {
  struct Release: Sendable {
    let key: DeviceKey
    let time: Time
  }

  /// A press less than this away from the key's release is a bounce; with zero, no press is.
  var interval: Duration {
    didSet { if interval == .zero { recentReleases = [] } }
  }

  /// The recent releases of keys that are up. A press of the same key soon after is a bounce.
  private var recentReleases: [Release] = []

  /// The releases that have not counted yet, in the order of their times; at equal times, in the
  /// order in which the keys went up.
  private var waitingReleases: [Release] = []

  /// Begins without releases. With the interval zero, no release is kept and no release waits.
  init(interval: Duration) { self.interval = interval }

  /// Keeps the release of a key: a press soon after it is a bounce.
  mutating func release(_ key: DeviceKey, at time: Time) {
    guard interval > .zero else { return }
    forgetOld(on: key.device, at: time)
    recentReleases.append(Release(key: key, time: time))
  }

  /// Returns whether a press of `key` at `time` is a bounce; if so, undoes the release.
  mutating func undoRelease(bouncing key: DeviceKey, at time: Time) -> Bool {
    if recentReleases.isEmpty { return false }
    forgetOld(on: key.device, at: time)
    guard let index = recentReleases.firstIndex(where: { $0.key == key }) else { return false }
    recentReleases.remove(at: index)
    waitingReleases.removeAll { $0.key == key }
    return true
  }

  /// Whether a press of `key` at `time` would be a bounce.
  func isBounce(_ key: DeviceKey, at time: Time) -> Bool {
    recentReleases.contains { $0.key == key && $0.time.isWithin(interval, of: time) }
  }

  /// Forgets releases on `device` after which a press at `time` is no bounce. The list stays short
  /// however much is typed, and typed keys do not stay in it for long.
  private mutating func forgetOld(on device: DeviceID, at time: Time) {
    recentReleases.removeAll { $0.key.device == device && !$0.time.isWithin(interval, of: time) }
  }

  /// Forgets the releases on `device`: no later press is a bounce. Waiting releases still count.
  mutating func remove(_ device: DeviceID) { recentReleases.removeAll { $0.key.device == device } }

  // MARK: Releases that wait

  /// Makes a release of `key` wait, and returns `true`. With the interval zero, returns `false`.
  mutating func deferRelease(of key: DeviceKey, since time: Time) -> Bool {
    guard interval > .zero else { return false }
    let index = waitingReleases.firstIndex { $0.time > time } ?? waitingReleases.endIndex
    waitingReleases.insert(Release(key: key, time: time), at: index)
    return true
  }

  /// The time of the first release that waits; `nil` if none waits.
  var waitingSince: Time? { waitingReleases.first?.time }

  /// The latest time at which the first release that waits counts; `nil` if none waits.
  var due: Time? { waitingSince?.advanced(by: interval) }

  /// Removes the first release that waits, on this device or on any, and returns it.
  mutating func popWaitingRelease(on device: DeviceID? = nil) -> Release? {
    waitingReleases.firstIndex { device == nil || $0.key.device == device }
      .map { waitingReleases.remove(at: $0) }
  }
}
