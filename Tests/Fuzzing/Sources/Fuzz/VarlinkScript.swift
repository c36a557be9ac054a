/// What several clients and a keyboard do, as the fuzzer's bytes have it: what a client sends stands
/// there as it is, and 0xff with a letter is something else that happens.
struct VarlinkScript {
  enum Step {
    /// The client that is meant sends these bytes.
    case send([UInt8])
    /// It reads what there is for it.
    case read
    /// It says that it will send no more.
    case endSending
    /// It closes the connection, with whatever is in it.
    case leave
    /// Another client connects, and is meant from now on.
    case connect(isControl: Bool)
    /// The next of the clients is meant from now on.
    case choose
    /// Shift is pressed.
    case shift
    /// Keys that change the keyboard machine, so many in one wakeup.
    case keys(Int)
    /// A letter is typed.
    case letter
    /// The configuration is read again.
    case reload
  }

  let steps: [Step]

  /// More could only be had by a client that takes a long time.
  private static let mostBytes = 600_000
  private static let mostClients = 5

  init(_ bytes: [UInt8]) {
    var steps: [Step] = []
    var (gathered, total, clients): ([UInt8], Int, Int) = ([], 0, 1)
    func send() {
      if !gathered.isEmpty { steps.append(.send(gathered)) }
      gathered = []
    }
    func happens(_ step: Step) {
      send()
      steps.append(step)
    }
    var rest = bytes[...]
    while let byte = rest.popFirst(), total < Self.mostBytes {
      total += 1
      guard byte == 0xff else {
        gathered.append(byte)
        continue
      }
      switch rest.popFirst().map({ Character(UnicodeScalar($0)) }) {
      case "|": send()
      case "r": happens(.read)
      case "e": happens(.endSending)
      case "x": happens(.leave)
      case "n": happens(.choose)
      case "k": happens(.shift)
      case "K": happens(.keys(12))
      case "M": happens(.keys(70))
      case "l": happens(.letter)
      case "R": happens(.reload)
      case "c" where clients < Self.mostClients, "s" where clients < Self.mostClients:
        clients += 1
        happens(.connect(isControl: bytes[rest.startIndex - 1] == UInt8(ascii: "c")))
      case "z":
        gathered += [UInt8](repeating: UInt8(ascii: "z"), count: 30_000)
        total += 30_000
      default: gathered.append(byte)
      }
      // One step must not do the work of thousands.
      if steps.count > 200 { break }
    }
    send()
    self.steps = steps
  }
}
