import KeyboardModes
import Testing

@testable import LinuxInput

private func keySet(_ ranges: ClosedRange<UInt16>...) -> KeySet {
  var keys = KeySet()
  for number in ranges.joined() {
    if let key = KeyCode(number) { keys.insert(key) }
  }
  return keys
}

@Suite("Device kind without udev")
struct DeviceKindTests {
  @Test("a device with all keys from 1 to 31 is a keyboard, whatever else it has")
  func keyboard() {
    #expect(DeviceKind(keySet(1...31)) == .keyboard)
    #expect(DeviceKind(keySet(0...248)) == .keyboard)
    #expect(DeviceKind(keySet(1...31, 0x110...0x117)) == .keyboard)
    for missing: UInt16 in 1...31 {
      var almost = keySet(1...248)
      if let key = KeyCode(missing) { almost.remove(key) }
      #expect(DeviceKind(almost) == .keys, "without \(missing)")
    }
  }

  @Test(
    "a device with any key code outside the button ranges has keys",
    arguments: [0, 116, 0xff, 0x160, 0x1ff, 0x21f, 0x230, 0x24a, 0x2bf])
  func keys(_ number: UInt16) {
    #expect(DeviceKind(keySet(number...number)) == .keys)
  }

  @Test("buttons are not keys", arguments: [0x100...0x15f, 0x220...0x22f, 0x2c0...0x2ff])
  func buttons(_ numbers: ClosedRange<UInt16>) {
    #expect(DeviceKind(keySet(numbers)) == .other)
  }

  @Test("a device without keys and buttons is neither a keyboard nor has keys")
  func none() {
    #expect(DeviceKind(KeySet()) == .other)
  }
}
