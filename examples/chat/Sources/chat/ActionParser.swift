/// What a user does at a terminal.
enum Action: Sendable, Equatable {
  case character(Unicode.Scalar)
  case enter
  case backspace
  case tab
  /// A click in this row, from 0.
  case click(row: Int)
  /// The terminal has another size.
  case resize
  /// Ctrl+C.
  case interrupt
}

/// Finds actions in the bytes of a terminal, however the bytes are cut into parts.
struct ActionParser {
  private enum Place {
    case ground
    /// Behind the first bytes of a character in UTF-8.
    case character([UInt8])
    /// Behind Esc.
    case escape
    /// Behind `ESC O`, as in F1 to F4.
    case function
    /// Behind `ESC [`, with the bytes since.
    case sequence([UInt8])
  }

  private var place = Place.ground

  /// Whether the bytes so far end inside a sequence or a character.
  var isInside: Bool { if case .ground = place { false } else { true } }

  /// Parses the next bytes.
  mutating func parse(_ bytes: some Sequence<UInt8>) -> [Action] { bytes.compactMap { parse($0) } }

  private mutating func parse(_ byte: UInt8) -> Action? {
    switch place {
    case .ground, .character: return start(byte)
    case .function: place = .ground
    case .escape:
      switch byte {
      case UInt8(ascii: "["): place = .sequence([])
      case UInt8(ascii: "O"): place = .function
      case ..<32: return start(byte)  // Esc, and then another key
      default: place = .ground  // Alt and a key
      }
    case .sequence(let bytes):
      guard (0x40...0x7e).contains(byte) else {
        place = .sequence(bytes + [byte])
        break
      }
      place = .ground
      return byte == UInt8(ascii: "M") ? click(bytes) : nil
    }
    return nil
  }

  private mutating func start(_ byte: UInt8) -> Action? {
    var begun: [UInt8] = []
    if case .character(let bytes) = place { begun = bytes }
    place = .ground
    switch byte {
    case 3: return .interrupt
    case 9: return .tab
    case 10, 13: return .enter
    case 8, 127: return .backspace
    case 27: place = .escape
    case 32..<127: return .character(Unicode.Scalar(byte))
    case 0x80...:
      // A byte that cannot continue a character begins one.
      let bytes = byte < 0xc0 ? begun + [byte] : [byte]
      if let scalar = String(validating: bytes, as: UTF8.self)?.unicodeScalars.first {
        return scalar.properties.generalCategory == .control ? nil : .character(scalar)
      }
      if bytes.count < 4 { place = .character(bytes) }
    default: break
    }
    return nil
  }

  /// A press of the left button: `ESC [ < 0 ; COLUMN ; ROW M`.
  private func click(_ bytes: [UInt8]) -> Action? {
    let numbers = String(decoding: bytes, as: UTF8.self).split(separator: ";")
    guard numbers.count == 3, numbers[0] == "<0", let row = Int(numbers[2]), row > 0 else {
      return nil
    }
    return .click(row: row - 1)
  }
}
