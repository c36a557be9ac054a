import Configuration
import KeyboardModes
import Terminal

/// Reads `bytes` as a configuration, twice, and puts it into force. A line `%` begins a drop-in.
func attemptConfiguration(_ bytes: [UInt8]) {
  let (first, second) = (read(bytes), read(bytes))
  require(first == second, "reading it again gives something else")
  switch first {
  case .success(let configuration): use(configuration)
  case .failure(let errors):
    check(errors.errors, in: bytes)
    require(errors.errors.count <= ConfigurationErrors.maxErrors)
    require(errors.omittedCount == 0 || errors.errors.count == ConfigurationErrors.maxErrors)
  }
}

private func read(_ bytes: [UInt8]) -> Result<Configuration, ConfigurationErrors> {
  Result { () throws(ConfigurationErrors) in try Configuration(merging: files(bytes)) }
}

/// The file and its drop-ins, `0`, `1` and so on.
private func files(_ bytes: [UInt8]) -> [ConfigurationText] {
  var texts: [[UInt8]] = [[]]
  for line in bytes.split(separator: 10, omittingEmptySubsequences: false) {
    if line.elementsEqual("%".utf8) {
      texts.append([])
    } else {
      texts[texts.count - 1] += Array(line) + [10]
    }
  }
  return texts.enumerated().map { ConfigurationText(name: "\($0)", bytes: $1) }
}

private func check(_ errors: [ConfigurationError], in bytes: [UInt8]) {
  require(!errors.isEmpty, "it is refused, and nobody knows why")
  let lengths = files(bytes).map { lineLengths($0.bytes) }
  var last = (0, 1, 1)
  for error in errors {
    guard let mark = error.mark, let file = Int(error.file) else {
      fatalError("an error without a place: \(error)")
    }
    require((file, mark.line, mark.column) >= last, "an error that is not in its place: \(error)")
    last = (file, mark.line, mark.column)
    let lengths = lengths[file]
    require(
      mark.line >= 1 && mark.line <= lengths.count && mark.column >= 1
        && mark.column <= lengths[mark.line - 1] + 1, "a place beyond the text: \(error)")
    require(!error.message.isEmpty && isPrintable("\(error)"), "\(error) is not one line")
    require(
      "\(error)" == "\(file):\(mark.line):\(mark.column): \(printable(error.message))")
  }
}

private func isPrintable(_ text: String) -> Bool {
  text.unicodeScalars.allSatisfy {
    ![.control, .format, .lineSeparator, .paragraphSeparator].contains(
      $0.properties.generalCategory)
  }
}

/// How many characters each line has, where lines end as YAML 1.1 says.
private func lineLengths(_ bytes: [UInt8]) -> [Int] {
  let isUTF8 = String(validating: bytes, as: UTF8.self) != nil
  var lengths = [0]
  var place = 0
  func follows(_ sequence: [UInt8]) -> Bool { bytes[place...].starts(with: sequence) }
  let breaks: [[UInt8]] = [
    [0x0d, 0x0a], [0x0d], [0x0a], [0xc2, 0x85], [0xe2, 0x80, 0xa8], [0xe2, 0x80, 0xa9],
  ]
  while place < bytes.count {
    if let lineBreak = breaks.first(where: follows) {
      lengths.append(0)
      place += lineBreak.count
    } else {
      // The bytes that go on a character are none of their own, unless there is none to go on.
      if !isUTF8 || bytes[place] & 0xc0 != 0x80 { lengths[lengths.count - 1] += 1 }
      place += 1
    }
  }
  return lengths
}

private func use(_ configuration: Configuration) {
  require(configuration.settings.shift.threshold <= .seconds(60))
  let printed = read(Array(configuration.yaml.utf8))
  require(printed == .success(configuration), "it is printed as something else: \(printed)")
  var controller = Controller(settings: configuration.settings)
  for (place, number) in [42, 30, 29, 47, 127, 1, 54].enumerated() {
    guard let key = KeyCode(number) else { continue }
    let event = KeyEvent(time: Time(microseconds: Int64(place)), key: key, action: .press)
    for change in controller.handle(.key(DeviceID(order: 0), event)) {
      require(change.from != change.to)
    }
  }
  for name in ["AT Translated Set 2 keyboard", String(repeating: "a", count: 80), ""] {
    _ = configuration.devices.allow(name: name, vendor: 0x46d, product: 0xc52b)
  }
}
