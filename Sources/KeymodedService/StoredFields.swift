import KeyboardModes

/// Numbers and names in sequence, followed by a checksum.
struct StoredFields {
  private let bytes: UnsafeMutableRawBufferPointer
  private var offset = 0

  /// The fields in this part of a memory.
  init(_ part: Slice<UnsafeMutableRawBufferPointer>) {
    bytes = UnsafeMutableRawBufferPointer(rebasing: part)
  }

  /// The size of a number in bytes.
  static let numberSize = 8

  /// The size of a name of `length` bytes: one byte for the length, the name, and zeros up to the next
  /// number.
  static func size(ofName length: Int = KeyboardTable.longestName) -> Int { aligned(1 + length) }

  private static func aligned(_ offset: Int) -> Int { (offset + 7) & ~7 }

  // MARK: Writing

  mutating func put(_ number: UInt64) {
    bytes.storeBytes(of: number, toByteOffset: offset, as: UInt64.self)
    offset += 8
  }

  /// Appends a name, cut to ``KeyboardTable/longestName`` bytes; a table has no longer ones.
  mutating func put(_ text: String) {
    var text = text
    text.withUTF8 { text in
      let text = text.prefix(KeyboardTable.longestName)
      bytes[offset] = UInt8(text.count)
      UnsafeMutableRawBufferPointer(rebasing: bytes[(offset + 1)...]).copyBytes(from: text)
      offset += 1 + text.count
    }
    align()
  }

  /// - Precondition: the buffer has room for them.
  mutating func put(bytes text: [UInt8]) {
    put(UInt64(text.count))
    UnsafeMutableRawBufferPointer(rebasing: bytes[offset...]).copyBytes(from: text)
    offset += text.count
    align()
  }

  mutating func put(_ time: Time?) { put(UInt64(bitPattern: time?.microseconds ?? .min)) }

  mutating func put(_ snapshot: Controller.Snapshot) {
    put(UInt64(bitPattern: snapshot.modes.sequence))
    put(snapshot.shift.name)
    if case .on(let since) = snapshot.shift { put(since) } else { put(Time?.none) }
    put(snapshot.modes.shiftSince)
    put(snapshot.modes.keyboard)
    put(snapshot.modes.keyboardSince)
  }

  /// How many releases a header has room for. More keys with one are hardly ever down at once.
  static let mostReleases = 6

  /// Appends the first ``mostReleases`` of these.
  mutating func put(_ releases: [AwaitedRelease]) {
    let releases = releases.prefix(Self.mostReleases)
    put(UInt64(releases.count))
    for release in releases {
      put(UInt64(release.key.number))
      put(release.event)
    }
  }

  mutating func putChecksum() { put(checksum()) }

  // MARK: Reading

  mutating func takeNumber() -> UInt64? {
    guard offset + 8 <= bytes.count else { return nil }
    defer { offset += 8 }
    return bytes.load(fromByteOffset: offset, as: UInt64.self)
  }

  mutating func takeText() -> String? {
    guard offset < bytes.count else { return nil }
    let count = Int(bytes[offset])
    guard count <= KeyboardTable.longestName, offset + 1 + count <= bytes.count else { return nil }
    let text = bytes[offset + 1..<offset + 1 + count]
    offset += 1 + count
    align()
    return String(validating: text, as: UTF8.self)
  }

  mutating func takeBytes() -> [UInt8]? {
    guard let number = takeNumber(), number <= UInt64(bytes.count - offset) else { return nil }
    let count = Int(number)
    defer {
      offset += count
      align()
    }
    return Array(bytes[offset..<offset + count])
  }

  mutating func takeTime() -> Time? {
    guard let number = takeNumber().map(Int64.init(bitPattern:)), number != .min else { return nil }
    return Time(microseconds: number)
  }

  mutating func takeSnapshot() -> Controller.Snapshot? {
    guard let sequence = takeNumber().map(Int64.init(bitPattern:)), let shift = takeText() else {
      return nil
    }
    let pressed = takeTime()
    let shiftSince = takeTime()
    guard let keyboard = takeText() else { return nil }
    let keyboardSince = takeTime()
    let states: [ShiftRules.State] = [.off, .on(since: pressed), .capsLock]
    guard let state = states.first(where: { $0.name == shift }) else { return nil }
    return Controller.Snapshot(
      sequence: sequence, shift: state, shiftSince: shiftSince, keyboard: keyboard,
      keyboardSince: keyboardSince)
  }

  mutating func takeAwaitedReleases() -> [AwaitedRelease]? {
    guard let count = takeNumber(), count <= UInt64(Self.mostReleases) else { return nil }
    var releases: [AwaitedRelease] = []
    for _ in 0..<count {
      guard let key = takeNumber().flatMap({ KeyCode($0) }), let event = takeText() else {
        return nil
      }
      releases.append(AwaitedRelease(key: key, event: event))
    }
    return releases
  }

  /// Whether the next field is the checksum of all fields before it.
  mutating func isWhole() -> Bool {
    let expected = checksum()
    return takeNumber() == expected
  }

  /// FNV-1a over everything before: it detects interrupted writes, not forgery.
  private func checksum() -> UInt64 {
    var sum: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in UnsafeRawBufferPointer(rebasing: bytes[..<offset]) {
      sum = (sum ^ UInt64(byte)) &* 0x100_0000_01b3
    }
    return sum
  }

  private mutating func align() { offset = Self.aligned(offset) }
}
