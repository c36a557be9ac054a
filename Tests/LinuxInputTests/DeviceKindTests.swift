import Evdev
import KeyboardModes
import Testing

@testable import LinuxInput

/// What a device reports that has these codes of `EV_KEY`, `EV_REL` and `EV_ABS`, and these
/// properties. The numbers are from `linux/input-event-codes.h`.
private func device(
  keys: [ClosedRange<UInt16>] = [], relative: [UInt16] = [], absolute: [UInt16] = [],
  properties: [UInt16] = []
) -> DeviceDescription {
  var device = DeviceDescription(
    name: "", node: "", bus: 3, vendor: 1, product: 2, version: 3)
  let codes: [(UInt16, [UInt16])] = [(1, Array(keys.joined())), (2, relative), (3, absolute)]
  device.types = codes.filter { !$0.1.isEmpty }.map {
    .init(number: $0.0, codes: $0.1, highest: 0x2ff)
  }
  device.properties = properties
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

  @Test("a device without keys and buttons has no kind")
  func none() {
    #expect(DeviceKind(device()) == [])
  }

  /// The devices are those of real descriptions, reduced to what the rules look at.
  @Test(
    "a mouse, a touchpad and a pointing stick are pointers",
    arguments: [
      ("a mouse", device(keys: [0x110...0x112], relative: [0, 1, 8])),
      ("a mouse with buttons beside the wheel", device(keys: [0x110...0x117], relative: [0, 1])),
      ("buttons without motion", device(keys: [0x110...0x111])),
      ("only a side button", device(keys: [0x113...0x113], relative: [0, 1])),
      ("only the last button", device(keys: [0x11f...0x11f], relative: [0, 1])),
      ("the mouse of a virtual machine", device(keys: [0x110...0x112], absolute: [0, 1])),
      (
        "the same with more axes than coordinates",
        device(keys: [0x110...0x112], absolute: [0, 1, 3])
      ),
      (
        "a touchpad",
        device(
          keys: [0x110...0x110, 0x145...0x145, 0x14a...0x14a],
          absolute: [0, 1, 24, 0x2f, 0x35, 0x36, 0x39], properties: [0, 2])
      ),
      (
        "a touchpad with coordinates of fingers alone",
        device(keys: [0x145...0x145], absolute: [0x35, 0x36])
      ),
      (
        "a pointing stick",
        device(keys: [0x110...0x112], relative: [0, 1], properties: [0, 5])
      ),
      ("a pointing stick by its property alone", device(properties: [5])),
    ])
  func pointers(_ name: String, _ device: DeviceDescription) {
    #expect(DeviceKind(device) == .pointer, "\(name)")
  }

  @Test(
    "a screen, a tablet, a game pad, an accelerometer and a wheel are no pointers",
    arguments: [
      ("motion without buttons", device(relative: [0, 1])),
      ("a wheel", device(relative: [8])),
      ("a screen", device(keys: [0x14a...0x14a], absolute: [0, 1, 0x35, 0x36], properties: [1])),
      (
        "a screen with fingers",
        device(keys: [0x145...0x145, 0x14a...0x14a], absolute: [0, 1], properties: [1])
      ),
      ("a pen", device(keys: [0x140...0x140, 0x14b...0x14b], absolute: [0, 1])),
      (
        "a pen with a mouse button",
        device(keys: [0x110...0x110, 0x140...0x140], absolute: [0, 1])
      ),
      (
        "a pen and fingers",
        device(keys: [0x140...0x140, 0x145...0x145], absolute: [0x35, 0x36])
      ),
      (
        "the pad of a tablet",
        device(keys: [0x100...0x101, 0x110...0x110], relative: [8], absolute: [40])
      ),
      (
        "a game pad with a mouse button",
        device(keys: [0x110...0x110, 0x130...0x13e])
      ),
      ("pedals with a mouse button", device(keys: [0x110...0x110], absolute: [6, 9, 10])),
      (
        "an accelerometer with buttons",
        device(keys: [0x110...0x110], absolute: [0, 1], properties: [6])
      ),
      (
        "every axis, but no real coordinates",
        device(keys: [0x145...0x145], absolute: [0x2e, 0x2f, 0x35, 0x36])
      ),
    ])
  func others(_ name: String, _ device: DeviceDescription) {
    #expect(DeviceKind(device) == [], "\(name)")
  }

  @Test("a device can be a keyboard or have keys, and be a pointer as well")
  func both() {
    let receiver = device(keys: [1...248, 0x110...0x117], relative: [0, 1, 8])
    #expect(DeviceKind(receiver) == [.keyboard, .keys, .pointer])
    let gamingMouse = device(keys: [59...68, 0x110...0x117], relative: [0, 1, 8])
    #expect(DeviceKind(gamingMouse) == [.keys, .pointer])
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
    let all = Keyboards.Selection.all(boundKeys: [], DeviceRules(), pointers: pointers)
    #expect(Self.kinds.map(all.mayHave) == [false, true, pointers, true, true, true])
    #expect(all.mayHave(nil), "without udev, the device has to be asked")
  }

  @Test("a named device may be of any kind")
  func named() {
    let named = Keyboards.Selection.named([])
    #expect(Self.kinds.allSatisfy(named.mayHave))
  }

  private static func roles(
    _ selection: Keyboards.Selection, isAllowed: Bool = true, having keys: Set<KeyCode> = []
  ) -> [DeviceRole?] {
    kinds.map { selection.role(of: $0, isAllowed: { _ in isAllowed }, has: keys.contains) }
  }

  @Test(
    "a keyboard is followed as one, keys if one is bound, and else a pointer",
    arguments: [true, false])
  func roles(_ pointers: Bool) throws {
    let bound: Set = [try #require(KeyCode(UInt16(59)))]
    let all = Keyboards.Selection.all(boundKeys: bound, DeviceRules(), pointers: pointers)
    let pointer: DeviceRole? = pointers ? .pointer : nil
    #expect(Self.roles(all) == [nil, nil, pointer, pointer, .keyboard, .keyboard])
    #expect(Self.roles(all, having: bound) == [nil, .keys, pointer, .keys, .keyboard, .keyboard])
    #expect(Self.roles(all, isAllowed: false, having: bound) == [nil, nil, nil, nil, nil, nil])
  }

  @Test("of a named device all keys are followed, unless it is a pointer without keys")
  func namedRoles() {
    #expect(
      Self.roles(.named([]), isAllowed: false)
        == [.keys, .keys, .pointer, .keys, .keyboard, .keyboard])
  }
}
