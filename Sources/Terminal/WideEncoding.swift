/// An encoding of text that some programs of Windows write, and that programs of Linux do not read.
public struct WideEncoding: Sendable {
  /// Its name for iconv(1).
  let name: String

  /// The error about a file in this encoding.
  public var fault: String {
    "this is UTF-16, which PowerShell's '>' writes; 'iconv -f \(name) -t UTF-8' converts it"
  }
}

/// The encoding of a file that begins with these bytes; `nil` unless it is UTF-16.
public func wideEncoding(of start: some Collection<UInt8>) -> WideEncoding? {
  let beginning = Array(start.prefix(128))
  if beginning.starts(with: [0xff, 0xfe]) || beginning.starts(with: [0xfe, 0xff]) {
    return WideEncoding(name: "UTF-16")
  }
  // Without a mark: one byte of most characters is 0, which no UTF-8 text has.
  func zeros(_ first: Int) -> Int {
    stride(from: first, to: beginning.count, by: 2).count { beginning[$0] == 0 }
  }
  let (even, odd) = (zeros(0), zeros(1))
  guard max(even, odd) > 1, max(even, odd) >= beginning.count / 4, min(even, odd) == 0 else {
    return nil
  }
  return WideEncoding(name: even == 0 ? "UTF-16LE" : "UTF-16BE")
}
