/// The Shifts that are up although a hand may hold them: a remapper lifts Shift for a key that is
/// to be sent without Shift, and presses Shift again. keyd does so for its layer `[shift]`, in
/// separate frames; the key overrides of firmware do so in the frames of the key.
///
///     keyd      Shift   P----R          P---R    P: its press, R: its release
///               Delete        P--------R         each less than 0.5 ms from an event of Shift
///     firmware  Shift   P----R         P----R
///               Delete       P---------R         each in the frame of an event of Shift
///
/// - A key that goes down less than 0.5 ms after Shift's release, on the same device, is pressed
///   *with* that Shift, unless it types a character and is in the frame of the release: at 8 ms
///   of polling, a fast hand often lets go of Shift and presses the next letter within one frame.
/// - The Shift is *lifted* until 0.5 ms after the release of this key and of all keys that go down
///   meanwhile. A press of Shift less than 0.5 ms after such a release *continues* the older press;
///   in the frame of the release it does so only if the released key types no character.
///
/// The order within a frame comes from the keyboard's descriptor, so it means nothing. A Shift that
/// is pressed again, perhaps in the frame of such a release, waits for the end of the frame.
struct LiftedShifts: Sendable {
  /// A remapper sends its next event sooner than this; the next event of a hand comes later.
  static var maxGap: Duration { .microseconds(500) }

  private struct Lift: Sendable {
    let shift: DeviceKey
    let released: Time
    /// The keys that went down with this Shift or later, and are still down.
    var keys: [(code: KeyCode, isCharacter: Bool)] = []
    /// When any of these keys was last released.
    var keyReleased: Time?
    /// When any of these keys that types no character was last released.
    var silentReleased: Time?
    /// When Shift was pressed again, if this press waits for the end of its frame.
    var pressedAgain: Time?

    func isOver(at time: Time) -> Bool {
      keys.isEmpty && !time.isWithin(LiftedShifts.maxGap, of: keyReleased ?? released)
    }

    /// Whether this press is the next letter of a fast hand, in the frame of the release.
    func isNextLetter(at time: Time, inFrame: Bool, isCharacter: Bool) -> Bool {
      isCharacter && inFrame && time == released
    }

    func continuesPress(at time: Time, _ inFrame: Bool) -> Bool {
      if let silentReleased, time.isWithin(LiftedShifts.maxGap, of: silentReleased) { return true }
      guard let keyReleased, !inFrame || time != keyReleased else { return false }
      return time.isWithin(LiftedShifts.maxGap, of: keyReleased)
    }
  }

  private var lifts: [Lift] = []

  /// The last press of a key that types no character. A Shift may be released in the same frame.
  private var lastSilentPress: (key: DeviceKey, time: Time)?

  var isEmpty: Bool { lifts.isEmpty }

  /// Whether a press waits for the end of its frame.
  var isWaiting: Bool { !lifts.isEmpty && lifts.contains { $0.pressedAgain != nil } }

  /// When a press that waits for the end of its frame counts at the latest; `nil` for never.
  var due: Time? {
    lifts.isEmpty
      ? nil : lifts.lazy.compactMap(\.pressedAgain).first?.advanced(by: .microseconds(1))
  }

  /// Whether `shift` is lifted and counts as held for a press of `key`. If `shift` is `nil`, any
  /// lifted Shift counts.
  ///
  /// - Parameters:
  ///   - inFrame: whether the previous event of the device is in the same frame.
  ///   - isCharacter: whether the key types a character.
  func isShifted(
    _ key: DeviceKey, by shift: DeviceKey? = nil, at time: Time, inFrame: Bool, isCharacter: Bool
  ) -> Bool {
    lifts.contains { lift in
      lift.shift.device == key.device && (shift == nil || shift == lift.shift)
        && time.isWithin(Self.maxGap, of: lift.released)
        && !lift.isNextLetter(at: time, inFrame: inFrame, isCharacter: isCharacter)
    }
  }

  /// Notes the press of a key other than Shift.
  mutating func press(_ key: DeviceKey, at time: Time, inFrame: Bool, isCharacter: Bool) {
    if !isCharacter { lastSilentPress = (key, time) }
    lifts.removeAll { $0.shift.device == key.device && $0.isOver(at: time) }
    for index in lifts.indices
    where lifts[index].shift.device == key.device
      && !lifts[index].isNextLetter(at: time, inFrame: inFrame, isCharacter: isCharacter)
    {
      lifts[index].keys.append((key.code, isCharacter))
    }
  }

  /// Notes the press of a Shift, and returns whether it counts now. A press that continues an older
  /// press never counts; a press that waits for the end of its frame may count later.
  ///
  /// - Parameter mayWait: whether the press may wait for the end of its frame.
  mutating func press(
    shift: DeviceKey, at time: Time, _ inFrame: Bool, mayWait: Bool
  ) -> Bool {
    guard let index = lifts.firstIndex(where: { $0.shift == shift }) else { return true }
    let continuesPress = lifts[index].continuesPress(at: time, inFrame)
    if !continuesPress, mayWait, lifts[index].keys.contains(where: { !$0.isCharacter }) {
      lifts[index].pressedAgain = time
      return false
    }
    lifts.remove(at: index)
    return !continuesPress
  }

  /// Notes the release of any key, whether or not it is a Shift.
  mutating func release(_ key: DeviceKey, at time: Time, _ inFrame: Bool) {
    if key.code.isShift {
      forget(key)
      var lift = Lift(shift: key, released: time)
      if inFrame, let press = lastSilentPress, press.time == time, press.key.device == key.device {
        lift.keys = [(press.key.code, false)]
      }
      return lifts.append(lift)
    }
    for index in lifts.indices where lifts[index].shift.device == key.device {
      guard let held = lifts[index].keys.firstIndex(where: { $0.code == key.code }) else {
        continue
      }
      let isCharacter = lifts[index].keys.remove(at: held).isCharacter
      lifts[index].keyReleased = time
      if !isCharacter { lifts[index].silentReleased = time }
    }
    // A Shift that went down in the frame of this release continues its older press.
    lifts.removeAll { $0.pressedAgain != nil && $0.silentReleased == $0.pressedAgain }
  }

  /// Ends the wait of the Shifts that were pressed again, and returns them with their times.
  mutating func popShiftsPressedAgain() -> [(shift: DeviceKey, time: Time)] {
    guard !lifts.isEmpty else { return [] }
    defer { lifts.removeAll { $0.pressedAgain != nil } }
    return lifts.compactMap { lift in lift.pressedAgain.map { (lift.shift, $0) } }
  }

  /// Forgets the release of a Shift.
  mutating func forget(_ shift: DeviceKey) { lifts.removeAll { $0.shift == shift } }

  mutating func remove(_ device: DeviceID) { lifts.removeAll { $0.shift.device == device } }
}
