import Glibc
import SystemCalls

/// A process, as `/proc` shows it.
struct ProcessEntry: Hashable {
  let number: Int32
  let parent: Int32
  let group: Int32
  /// Whether it has ended, and its parent has not yet asked for its status.
  let isZombie: Bool
  /// When it started, in microseconds of the boot clock, rounded up to the next tick of 10 ms.
  let startedBefore: Int64

  /// The length of a tick of `/proc` in microseconds.
  private static let tick = 1_000_000 / Int64(sysconf(Int32(_SC_CLK_TCK)))

  /// The process in a line of `/proc/PID/stat`; see `proc_pid_stat(5)`.
  init?(stat line: some BidirectionalCollection<UInt8>) {
    // The name, in parentheses, may hold anything: parentheses too, and what would make one
    // `Character` of a parenthesis and itself.
    guard let open = line.firstIndex(of: UInt8(ascii: "(")),
      let close = line.lastIndex(of: UInt8(ascii: ")")), open < close,
      let number = Int32(String(decoding: line[..<open].dropLast(), as: UTF8.self))
    else { return nil }
    let fields = String(decoding: line[close...].dropFirst(), as: UTF8.self)
      .split(separator: " ", maxSplits: 20)
    guard fields.count > 19, let parent = Int32(fields[1]), let group = Int32(fields[2]),
      let ticks = Int64(fields[19])
    else { return nil }
    (self.number, self.parent, self.group) = (number, parent, group)
    startedBefore = (ticks &+ 1) &* Self.tick
    isZombie = fields[0] == "Z"
  }

  /// All processes that this one may see.
  static func all() -> [ProcessEntry] {
    let names = (try? names(inFolder: "/proc")) ?? []
    return names.compactMap { name in
      guard name.utf8.allSatisfy({ 0x30...0x39 ~= $0 }) else { return nil }
      let line = try? contents(of: "/proc/\(name)/stat", limit: 4096)
      return line.flatMap { $0 }.flatMap { ProcessEntry(stat: $0) }
    }
  }
}

extension Sequence<ProcessEntry> {
  /// Those that descend from `ancestor`, but not from any of `excluded`, nor are among these.
  func descendants(of ancestor: Int32, excluding excluded: Set<Int32> = []) -> [ProcessEntry] {
    let children = Dictionary(grouping: self, by: \.parent)
    var found = (children[ancestor] ?? []).filter { !excluded.contains($0.number) }
    var index = 0
    while index < found.count {
      let own = children[found[index].number] ?? []
      found += own.filter { !excluded.contains($0.number) }
      index += 1
    }
    return found
  }
}
