import Configuration
import KeyboardModes
import Keyboards
import Testing

@testable import Keyboards

@Suite("Key lines")
struct KeyLinesTests {
  private let device = DeviceID(order: 0)
  private let other = DeviceID(order: 1)

  /// The inputs of a script: `V+` presses V, `V-` releases it, `V=` repeats it, `V*` presses it on
  /// another device; each comes 20 ms after the one before, or in its own microsecond after `@`.
  private func inputs(_ script: String) throws -> [Controller.Input] {
    var time: Int64 = 0
    return try script.split(separator: " ").map { word in
      let parts = word.split(separator: "@")
      time = parts.count == 2 ? try #require(Int64(parts[1])) : time + 20_000
      let key = try #require(KeyCode(writtenAs: String(parts[0].dropLast())))
      let action: KeyEvent.Action =
        switch parts[0].last {
        case "-": .release
        case "=": .autorepeat
        default: .press
        }
      return .key(
        parts[0].last == "*" ? other : device,
        KeyEvent(time: Time(microseconds: time), key: key, action: action))
    }
  }

  private func shown(
    _ script: String, _ configuration: String = "", keysUp: [KeyCode] = []
  ) throws -> [String] {
    let settings = try Configuration(parsing: Array(configuration.utf8), file: "k").settings
    var lines = KeyLines(settings: settings)
    return lines.handle(Batch(try inputs(script))) { keys, _ in keys.filter(keysUp.contains) }
      .map(\.text)
  }

  @Test(
    "each press is named with its modifiers and what it does",
    arguments: [
      ("F9+", ["F9, free"]),
      ("Insert+ Insert-", ["Insert, tapTextField", "Insert, released after 20ms"]),
      ("Menu+", ["Menu, clickMoreButton"]), ("KEY_MENU+", ["KEY_MENU, free"]),
      ("V+ V= V- V+", ["V, characterTyped", "V, released after 40ms", "V, characterTyped"]),
      ("Super+ V+", ["Left_Super, modifier", "Super+V, free"]),
      ("Right_Super* V+", ["Right_Super, modifier", "Super+V, free"]),
      (
        "Super+ Super- V+",
        ["Left_Super, modifier", "Left_Super, released after 20ms", "V, characterTyped"]
      ),
      (
        "Ctrl+ Shift+ Period+",
        ["Left_Ctrl, modifier", "Left_Shift, modifier", "Ctrl+Shift+Period, free"]
      ),
      ("Shift+ A+", ["Left_Shift, shiftPressed", "Shift+A, characterTyped"]),
      ("Shift+ Insert+", ["Left_Shift, shiftPressed", "Shift+Insert, free"]),
      ("AltGr+ Q+", ["AltGr, free", "Q, characterTyped"]),
      ("Alt+ Super+", ["Left_Alt, modifier", "Alt+Left_Super, modifier"]),
      ("1+ 0x2e8+ BTN_LEFT+", ["1, characterTyped", "0x2e8, free", "BTN_LEFT, free"]),
      ("F9- F9= F9+", ["F9, free"]), ("", []),
    ])
  func presses(_ script: String, _ lines: [String]) throws {
    #expect(try shown(script) == lines)
  }

  @Test("a key on two nodes of a keyboard is shown once")
  func twins() throws {
    var lines = KeyLines(settings: Settings())
    let key = try #require(KeyCode(writtenAs: "F9"))
    let inputs = [(0, 0), (1, 19_999), (2, 20_000)].map { order, time in
      Controller.Input.key(
        DeviceID(order: order, parent: 0),
        KeyEvent(time: Time(microseconds: Int64(time)), key: key, action: .press))
    }
    let shown = lines.handle(Batch(inputs)) { _, _ in [] }
    #expect(shown.map(\.device.order) == [0, 2])
    #expect(shown.map(\.text) == ["F9, free", "F9, free"])
  }

  @Test("bindings and the user's own events are those of the configuration")
  func configured() throws {
    let configuration = """
      keyboard:
        table:
          states: [showingStickers]
          events: [clickStickerButton]
          rows: { editingText: { clickStickerButton: showingStickers } }
        bindings: { clickStickerButton: [F9, Ctrl+Super], clickMoreButton: [Super+V] }
      """
    #expect(
      try shown("F9+ Super+ V+ V- Super- Menu+ Ctrl+ Super+", configuration) == [
        "F9, clickStickerButton", "Left_Super, modifier", "Super+V, clickMoreButton",
        "V, released after 20ms", "Left_Super, released after 60ms", "Menu, free",
        "Left_Ctrl, modifier", "Ctrl+Left_Super, clickStickerButton",
      ])
  }

  @Test("a bounce is no press")
  func bounces() throws {
    let script = "F9+@0 F9-@10000 F9+@12000 F9-@30000 F9+@35000"
    func presses(_ lines: [String]) -> [String] { lines.filter { $0 == "F9, free" } }
    #expect(presses(try shown(script, "debounce: 5ms")).count == 2)
    #expect(presses(try shown(script)).count == 3)
  }

  @Test(
    "a release tells how late it came, and whether it came with the press",
    arguments: [
      ("F9+@0 F9-@1300000", "F9, released after 1300ms"),
      ("F9+@0 F9-@15000", "F9, released after 15ms"),
      ("F9+@0 F9-@14999", "F9, released after 14ms: at once, so you cannot hold it to talk"),
      ("F9+@7 F9-@7", "F9, released after 0s: at once, so you cannot hold it to talk"),
      ("F9+@0 F9-@120", "F9, released after 120us: at once, so you cannot hold it to talk"),
      ("F9+@0 F9*@5 F9-@2000000", "F9, released after 2s"),
    ])
  func releases(_ script: String, _ line: String) throws {
    #expect(try shown(script).last == line)
  }

  @Test("a key without a release is told of once, after two seconds")
  func notReleased() throws {
    var lines = KeyLines(settings: Settings())
    func handle(_ script: String, noInputBefore: Int64) throws -> [String] {
      let batch = Batch(try inputs(script), noInputBefore: Time(microseconds: noInputBefore))
      return lines.handle(batch) { _, _ in [] }.map(\.text)
    }
    #expect(lines.wakeTime == nil)
    #expect(
      try handle("F9+@1000 V+@500000", noInputBefore: 500_000) == ["F9, free", "V, characterTyped"])
    #expect(lines.wakeTime == Time(microseconds: 2_001_000))
    #expect(try handle("V-@600000", noInputBefore: 2_000_999) == ["V, released after 100ms"])
    #expect(try handle("", noInputBefore: 2_001_000) == ["F9, not released after 2s"])
    #expect(lines.wakeTime == nil)
    #expect(try handle("", noInputBefore: 9_000_000) == [])
    #expect(try handle("F9-@9000000", noInputBefore: 9_000_000) == ["F9, released after 8999ms"])
    // An unplugged keyboard holds no key.
    #expect(try handle("F9+@9100000", noInputBefore: 9_100_000) == ["F9, free"])
    let gone = Controller.Input.gone(device, at: Time(microseconds: 9_200_000))
    #expect(lines.handle(Batch([gone])) { _, _ in [] } == [])
    #expect(lines.wakeTime == nil)
  }

  @Test("a modifier whose release a grab hid is not held any more")
  func hidden() throws {
    let ctrl = try #require(KeyCode(writtenAs: "Ctrl"))
    let lines = try shown("Ctrl* Insert+", keysUp: [ctrl])
    #expect(lines == ["Left_Ctrl, modifier", "Insert, tapTextField"])
    #expect(try shown("Ctrl* Insert+").last == "Ctrl+Insert, free")
  }

  @Test("a release that a grab hid comes before all presses of a frame, as for the daemon")
  func hiddenInFrame() throws {
    let ctrl = try #require(KeyCode(writtenAs: "Ctrl"))
    // Only the meaning of Insert depends on Ctrl.
    let script = "Ctrl* F9+@40000 Insert+@40000"
    #expect(
      try shown(script, keysUp: [ctrl]) == [
        "Left_Ctrl, modifier", "F9, free", "Insert, tapTextField",
      ])
    var controller = Controller()
    let changes = controller.handle(Batch(try inputs(script))) { keys, _ in keys }
    #expect(changes.map(\.event) == ["tapTextField"])
    #expect(
      try shown(script) == ["Left_Ctrl, modifier", "Ctrl+F9, free", "Ctrl+Insert, free"])
  }

  @Test("keys that are down at the start are held; what a loss of events hid is not shown")
  func otherInputs() throws {
    let ctrl = try #require(KeyCode(writtenAs: "Ctrl"))
    let f9 = try #require(KeyCode(writtenAs: "F9"))
    var lines = KeyLines(settings: Settings())
    let opened = Controller.Input.opened(device, held: [ctrl])
    let first = lines.handle(Batch([opened] + (try inputs("F8+")))) { _, _ in [] }
    #expect(first.map(\.text) == ["Ctrl+F8, free"])
    let lost = [KeyDifference(key: f9, isDown: true), KeyDifference(key: ctrl, isDown: false)]
    let synchronized = Controller.Input.synchronized(
      device, lost, at: Time(microseconds: 30_000))
    #expect(lines.handle(Batch([synchronized])) { _, _ in [] } == [])
    let last = lines.handle(Batch(try inputs("F7*@40000"))) { _, _ in [] }
    #expect(last == [KeyLine(device: other, text: "F7, free")])
    #expect(lines.handle(Batch([.gone(device, at: Time(microseconds: 0))])) { _, _ in [] } == [])
  }
}
