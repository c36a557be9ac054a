/// Says that a file with this beginning is compressed or UTF-16, and which command converts it;
/// `nil` for other files. Some Windows programs write UTF-16.
public func encodingFault(of start: some Collection<UInt8>) -> String? {
  let bytes = Array(start.prefix(128))
  if let format = compressedFormats.first(where: { bytes.starts(with: $0.start) }) {
    return "this is compressed; '\(format.command)' unpacks it"
  }
  func zeros(from first: Int) -> Int {
    stride(from: first, to: bytes.count, by: 2).count { bytes[$0] == 0 }
  }
  let (even, odd) = (zeros(from: 0), zeros(from: 1))
  let name: String
  if bytes.starts(with: [0xff, 0xfe]) || bytes.starts(with: [0xfe, 0xff]) {
    name = "UTF-16"
  } else {
    // Without a byte order mark, the same byte must be 0 in about half of the pairs or more, and
    // the other byte in no pair. UTF-8 text has no zeros.
    guard max(even, odd) > max(1, bytes.count / 4 - 1), min(even, odd) == 0 else { return nil }
    name = even == 0 ? "UTF-16LE" : "UTF-16BE"
  }
  return "this is UTF-16, which PowerShell's '>' writes; 'iconv -f \(name) -t UTF-8' converts it"
}

/// How compressed files begin, and the commands that unpack them.
private let compressedFormats: [(start: [UInt8], command: String)] = [
  ([0x1f, 0x8b], "gunzip"), ([0x28, 0xb5, 0x2f, 0xfd], "unzstd"),
  ([0xfd] + Array("7zXZ".utf8), "unxz"), (Array("PK\u{3}\u{4}".utf8), "unzip"),
]
