import KeyboardModes
import Keyboards
import Testing

@testable import Keyboards

/// What a device reports that has these codes of `EV_KEY`, from `linux/input-event-codes.h`.
private func device(keys: [ClosedRange<UInt16>]) -> DeviceDescription {
  var device = DeviceDescription(
    name: "", node: "", bus: 3, vendor: 1, product: 2, version: 3)
  device.types = [.init(number: 1, codes: Array(keys.joined()))]
  return device
}

private func kind(of keys: ClosedRange<UInt16>...) -> DeviceKind { DeviceKind(device(keys: keys)) }

@Suite("Device kind without udev")
struct DeviceKindTests {
  @Test("a device with all keys from 1 to 31 is a keyboard, whatever else it has")
  func keyboard() {
    #expect(kind(of: 1...31) == [.keyboard, .keys])
    #expect(kind(of: 0...248) == [.keyboard, .keys])
    for missing: UInt16 in 1...31 {
      let almost = [UInt16](1...248).filter { $0 != missing }.map { $0...$0 }
      #expect(DeviceKind(device(keys: almost)) == .keys, "without \(missing)")
    }
  }

  @Test(
    "a device with any key code outside the button ranges has keys",
    arguments: [0, 116, 0xff, 0x160, 0x1ff, 0x21f, 0x230, 0x24a, 0x2bf])
  func keys(_ number: UInt16) {
    #expect(kind(of: number...number) == .keys)
  }

  @Test(
    "buttons are not keys, and those of game pads, fingers and pens make no pointer",
    arguments: [0x100...0x10f, 0x120...0x15f, 0x220...0x22f, 0x2c0...0x2ff])
  func buttons(_ numbers: ClosedRange<UInt16>) {
    #expect(kind(of: numbers) == [])
  }

  @Test(
    "a device with one of the eight buttons of a mouse is a pointer",
    arguments: [
      ("a mouse", [0x110...0x112]), ("a mouse with buttons beside the wheel", [0x110...0x117]),
      ("only the last button", [0x117...0x117]),
      ("a touchpad", [0x110...0x110, 0x145...0x145, 0x14a...0x14a]),
    ] as [(String, [ClosedRange<UInt16>])])
  func pointers(_ name: String, _ keys: [ClosedRange<UInt16>]) {
    #expect(DeviceKind(device(keys: keys)) == .pointer, "\(name)")
  }

  @Test(
    "a screen, a tablet and a game pad are no pointers",
    arguments: [
      ("without buttons", []), ("a screen", [0x14a...0x14a]),
      ("a pen with a mouse button", [0x110...0x110, 0x140...0x140]),
      ("a stylus with a mouse button", [0x110...0x110, 0x14b...0x14b]),
      ("the pad of a tablet", [0x100...0x101, 0x110...0x110]),
      ("a game pad with a mouse button", [0x110...0x110, 0x130...0x13e]),
      ("a joystick with a mouse button", [0x110...0x110, 0x120...0x120]),
      ("a pad of directions with a mouse button", [0x110...0x110, 0x220...0x223]),
    ] as [(String, [ClosedRange<UInt16>])])
  func others(_ name: String, _ keys: [ClosedRange<UInt16>]) {
    #expect(DeviceKind(device(keys: keys)) == [], "\(name)")
  }

  @Test("a device can be a keyboard or have keys, and be a pointer as well")
  func both() {
    #expect(kind(of: 1...248, 0x110...0x117) == [.keyboard, .keys, .pointer])
    let gamingMouse = kind(of: 59...68, 0x110...0x117)
    #expect(gamingMouse == [.keys, .pointer])
  }
}

@Suite("Selection of devices")
struct SelectionTests {
  private static let kinds: [DeviceKind] = [
    [], .keys, .pointer, [.keys, .pointer], .keyboard, [.keyboard, .keys, .pointer],
  ]

  @Test(
    "only a device that may be selected is opened: a pointer only with pointers",
    arguments: [true, false])
  func all(_ pointers: Bool) {
    let all = Keyboards.Selection.all(DeviceRules(), pointers: pointers)
    #expect(Self.kinds.map(all.maySelect) == [false, true, pointers, true, true, true])
    #expect(all.maySelect(nil), "without udev, the device has to be asked")
  }

  @Test("a named device may be of any kind")
  func named() {
    let named = Keyboards.Selection.named([])
    #expect(Self.kinds.allSatisfy(named.maySelect))
  }

  private static func roles(
    _ selection: Keyboards.Selection, isAllowed: Bool = true
  ) -> [DeviceRole?] {
    kinds.map { selection.role(of: $0, isAllowed: { _ in isAllowed }) }
  }

  @Test(
    "a keyboard is followed as one, else a device with any keys for these, and else a pointer",
    arguments: [true, false])
  func roles(_ pointers: Bool) {
    let all = Keyboards.Selection.all(DeviceRules(), pointers: pointers)
    #expect(
      Self.roles(all) == [nil, .keys, pointers ? .pointer : nil, .keys, .keyboard, .keyboard])
    #expect(Self.roles(all, isAllowed: false) == [nil, nil, nil, nil, nil, nil])
  }

  @Test("of a named device all keys are followed, unless it is a pointer without keys")
  func namedRoles() {
    #expect(
      Self.roles(.named([]), isAllowed: false)
        == [.keys, .keys, .pointer, .keys, .keyboard, .keyboard])
  }
}
