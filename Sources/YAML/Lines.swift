extension UnsafeRawBufferPointer {
  /// The start of the line behind the one that begins at `start`; `nil` if its end is not here.
  /// Lines end as for libyaml: at CR, LF, CR LF, NEL, LS and PS.
  ///
  /// - Parameter isComplete: whether the text ends with these bytes. If not, an LF may follow a CR.
  public func endOfLine(from start: Int, isComplete: Bool) -> Int? {
    func byte(_ index: Int) -> UInt8? { index < count ? self[index] : nil }
    for index in start..<count {
      switch self[index] {
      case 0x0a: return index + 1
      case 0x0d:
        guard index + 1 < count || isComplete else { return nil }
        return byte(index + 1) == 0x0a ? index + 2 : index + 1
      case 0xc2 where byte(index + 1) == 0x85: return index + 2
      case 0xe2 where byte(index + 1) == 0x80 && (byte(index + 2) ?? 0) & 0xfe == 0xa8:
        return index + 3
      default: continue
      }
    }
    return nil
  }
}
