import Foundation
import KeyboardModes
import Recordings
import TestSupport
import Testing

/// The lines that each reader passes over without a word, and no others: everything else is an event,
/// or an error with its line.
@Suite("Lines that are passed over")
struct PassedOverTests {
  /// In each format, an event to put before and behind other lines.
  private static let events: [RecordingFormat: String] = [
    .evemu: "E: 1.000000 0001 001e 0001\n",
    .evtest: "Event: time 1.000000, type 1 (EV_KEY), code 30 (KEY_A), value 1\n",
    .getevent: "[       1.000000] /dev/input/event3: 0001 001e 00000001\n",
    .libinput: "- node: x\n  events:\n  - evdev:\n    - [1, 0, 1, 30, 1] # EV_KEY / KEY_A\n",
  ]

  static let linesPassedOver: [(RecordingFormat, [String])] = [
    (
      .evemu,
      [
        "", "  ", "^C", "# EVEMU 1.3", "# anything", "###", "N: keyboard: the second # 2", "N: ",
        "I: 0011 0001 0001 ab41", "P: 00 00 00 00 00 00 00 00", "B: 01 fe ff ff ff ff ff ff ff",
        "A: 00 0 255 0 0 0", "L: 02 1", "S: 00 0", "E: 2.000000 0004 0004 458976",
        "E: 2.000000 0000 0000 0001\t# ------------ SYN_REPORT (1) ---------- +0ms",
      ]
    ),
    (
      .evtest,
      [
        "", "\t", "^C", "Input driver version is 1.0.1",
        "Input device ID: bus 0x11 vendor 0x1 product 0x1 version 0xab41",
        #"Input device name: "keyboard""#, "Supported events:", "  Event type 0 (EV_SYN)",
        "  Event type 1 (EV_KEY)", "    Event code 1 (KEY_ESC)", "  Event type 3 (EV_ABS)",
        "    Event code 0 (ABS_X)", "      Value    250", "      Min        0",
        "      Max     1439", "      Fuzz       1", "      Flat       1",
        "      Resolution      12",
        "  Event type 5 (EV_SW)", "    Event code 1 (SW_TABLET_MODE) state 1",
        "  Event type 17 (EV_LED)", "    Event code 2 (LED_SCROLLL) state 1",
        "    Event code 1 (LED_CAPSL)", "Key repeat handling:", "  Repeat type 20 (EV_REP)",
        "    Repeat code 0 (REP_DELAY)", "      Value    250", "Properties:",
        "  Property type 0 (INPUT_PROP_POINTER)", "Testing ... (interrupt to exit)",
        "No device specified, trying to scan all of /dev/input/event*",
        "Not running as root, no devices may be available.", "Available devices:",
        "/dev/input/event3:\tkeyboard", "Select the device event number [0-9]: 3",
        "***********************************************",
        "  This device is grabbed by another process.",
        "  No events are available to evtest while the", "  other grab is active.",
        "  In most cases, this is caused by an X driver,",
        "  try VT-switching and re-run evtest again.",
        "  Run the following command to see processes with", "  an open fd on this device",
        #" "fuser -v /dev/input/event3""#, "expected 24 bytes, got -1",
        "evtest: error reading: No such device",
        "Event: time 2.000000, type 4 (EV_MSC), code 4 (MSC_SCAN), value 700e1",
        "Event: time 2.000000, -------------- SYN_REPORT ------------",
        "Event: time 2.000000, ++++++++++++++ SYN_MT_REPORT ++++++++++++",
      ]
    ),
    (
      .getevent,
      [
        "", "    ", "^C", "could not get driver version for /dev/input/mice, Not a typewriter",
        "could not open /dev/input/event0, Permission denied", "scan dir failed for /dev/input",
        "remote device: /dev/input/event9 not found",
        "Can't enable monotonic clock reporting: Invalid argument",
        "add device 1: /dev/input/event3", "  bus:      0005", "  vendor    046d",
        "  product   b342", "  version   0111", #"  name:     "BT "Keyboard"""#, "  location: \"\"",
        "  id:       \"66:77:88:99:aa:bb\"", "  version:  1.0.1", "  events:",
        "    KEY (0001): 0001  0002  0003* 0004  0005  0006  0007  0008 ",
        "                0009  000a* 000b  000c  000d  000e  000f  0010 ", "                002a ",
        "    KEY (0001): KEY_ESC               KEY_LEFTSHIFT*        02f0                 ",
        "                KEY_F1                BTN_TRIGGER_HAPPY40*  KEY_KBDINPUTASSIST_N ",
        "    REL (0002): 0000  0001 ",
        "    ABS (0003): 0000  : value 0, min 0, max 1439, fuzz 0, flat 0, resolution 0",
        "                ABS_MT_PRESSURE       : value -1, min 0, max 63, fuzz 0, flat 0, resolution 0",
        "    MSC (0004): MSC_SCAN             ", "    SW  (0005): 0000* ",
        "    LED (0011): 0000* 0001 ",
        "    FF  (0015): 0050 ", "    ??? (0018): 0001 ", "  input props:", "    <none>",
        "    <not available", "    INPUT_PROP_DIRECT", "    0007",
        "  HID descriptor: 0003:046D:C31C.0001", "", "    05 01 09 06 a1 01 05 07 19 e0",
        "      Application(GenericDesktop.Keyboard)", "    Keyboard.00e1 ---> Key.LeftShift", "",
        "remove device 9: /dev/input/event9",
        "[       2.000000] /dev/input/event3: 0004 0004 000700e1",
        "[       2.000000] /dev/input/event3: EV_KEY       KEY_OF_ANDROID       DOWN                ",
        "[       2.000000] /dev/input/event3: EV_SYN       SYN_REPORT           00000000  rate 12",
        "2-5: /dev/input/event3: 0000 0000 00000000",
      ]
    ),
    (
      .libinput,
      [
        "", "^C", "# libinput record", "# anything", "  # Current time is 12:31:56", "version: 1",
        "ndevices: 2", "libinput:", "  version: \"1.29.1\"", "system:", "  os: \"debian:12\"",
        "devices:", "- node: /dev/input/event4", "  evdev:", "    name: \"a: b\"",
        "    id: [3, 1, 2, 3]", "      0: [0, 1, 2] # EV_SYN", "  hid: [",
        "    0x05, 0x01, 0x09, 0xFF,", "    5, 1, 9", "  ]", "  udev:", "    properties:",
        "    - ID_INPUT=1",
        "    virtual: false", "  quirks:", "    - ModelBouncingKeys=1", "  events:",
        "  - libinput:",
        "    - {time: 0.1, type: KEYBOARD_KEY, key: 30, state: pressed}", "  - hid:",
        "    time: [  0,    300]", "    hidraw0: [", "      0x00, 0x00", "    ]",
        "  - keymoded: {later: 1}", "  - evdev:", "    - [2, 0, 4, 4, 458976] # EV_MSC / MSC_SCAN",
        "    - [2, 0, 0, 0, 0] # ------------ SYN_REPORT (0) ---------- +0ms",
      ]
    ),
  ]

  @Test("what the tools themselves write besides events is passed over", arguments: linesPassedOver)
  func passed(_ format: RecordingFormat, _ lines: [String]) throws {
    let event = try #require(Self.events[format])
    let others = lines.map { "\($0)\n" }.joined()
    // In libinput's format a report begins with the event.
    let all = format == .libinput ? others + event : event + others
    for text in [all, all.replacing("\n", with: "\r\n"), "\u{feff}" + all] {
      let outcome = try read(text + (format == .libinput ? "" : event), format: format)
      #expect(outcome.error == nil)
      #expect(outcome.inputs.count == (format == .libinput ? 1 : 2))
      #expect(outcome.warnings == [])
    }
  }

  @Test("events and other lines may be indented", arguments: linesPassedOver)
  func indented(_ format: RecordingFormat, _ lines: [String]) throws {
    guard format != .libinput else { return }
    let all = (try #require(Self.events[format])) + lines.map { "\($0)\n" }.joined()
    for indentation in ["    ", "\t"] {
      let text = all.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
        .filter { $0 != "^C" }.map { "\(indentation)\($0)\n" }.joined()
      let outcome = try read(text, format: format)
      #expect(outcome.error == nil)
      #expect(outcome.events.count == 1)
    }
  }

  /// Lines that no tool writes; each format has more in its own tests.
  private static let foreignLines = [
    "hello", "$ sudo evtest /dev/input/event3", "user@host:~$ exit", "> quoted", "^Cagain", "0000",
    "    0001  0002", "12.500000: /dev/input/event4: 0001 002a 00000001", "KEY_A DOWN",
    "    EV_KEY       KEY_A                DOWN", "R: 8 05 01 09 06", "DOWN                ",
    "I: Bus=0011 Vendor=0001 Product=0001 Version=ab41", "value 1", "S", "...",
  ]

  @Test("every other line is an error with its number", arguments: linesPassedOver.map(\.0))
  func foreign(_ format: RecordingFormat) throws {
    let event = try #require(Self.events[format])
    let number = event.split(separator: "\n").count + 1
    for line in Self.foreignLines {
      let outcome = try read("\(event)\(line)\n", format: format)
      #expect(outcome.error?.hasPrefix("FILE:\(number): ") == true, "\(line)")
      #expect(outcome.events.count == 1)
      let lenient = try read("\(event)\(line)\n", format: format, isLenient: true)
      #expect((lenient.error, lenient.skipped.count) == (nil, 1), "\(line)")
      // Outside of a report, too, where libinput's format may have any name.
      guard format != .libinput || !line.contains(": ") else { continue }
      let first = try read("\(line)\n\(event)", format: format)
      #expect(first.error?.hasPrefix("FILE:1: ") == true, "\(line)")
    }
  }

  @Test("lines like those of a description are errors where none is")
  func outsideOfADescription() throws {
    let event = try #require(Self.events[.getevent])
    let described = "add device 1: /dev/input/event3\n  events:\n" + event
    for line in ["                0009  000a ", "    <none>", "    INPUT_PROP_DIRECT", "    05 01"]
    {
      let outcome = try read(described + line + "\n")
      #expect(outcome.error == "FILE:4: neither an event nor a line about a device", "\(line)")
    }
    let descriptor = "add device 1: /dev/input/event3\n  HID descriptor: 0003:046D:C31C.0001\n"
    for line in ["05 01", "       1.000000] /dev/input/event3: 0001 001e 00000001"] {
      #expect(try read(descriptor + line.trimmingCharacters(in: .whitespaces) + "\n").error != nil)
    }
    let untimed = "    /dev/input/event3: 0001 001e 00000001\n"
    #expect(
      try read(descriptor + untimed).error
        == "FILE:3: an event without a time: getevent needs -t")
  }

  @Test("a last line without its end may be a comment or blank, and is an error otherwise")
  func lastLine() throws {
    for (format, event) in Self.events {
      for end in ["# Closing after 2s inactivity", "  ", ""] where end != "#" {
        guard format == .evemu || format == .libinput || !end.hasPrefix("#") else { continue }
        #expect(try read(event + end, format: format).error == nil)
      }
      let torn = try read(event + event.dropLast(), format: format)
      #expect(torn.error?.hasSuffix(": the recording is cut off here") == true)
    }
  }

  @Test("with --autorestart, libinput begins the next device in the line of a comment")
  func autorestart() throws {
    let outcome = try read(
      """
      # libinput record
      version: 1
      ndevices: 2
      devices:
      - node: /dev/input/event4
        events:
        - evdev:
          - [1, 0, 1, 30, 1]
          - [1, 0, 0, 0, 0]
      # Closing after 2s inactivity- node: /dev/input/event5
        evdev:
          name: "x"
        events:
        - evdev:
          - [1, 5, 1, 30, 1]
          - [1, 5, 0, 0, 0]
      # Closing after 2s inactivity
      """)
    #expect(outcome.error == nil)
    #expect(outcome.devices == [0, 1])
  }

  @Test(
    "it is known of which recording nothing was read",
    arguments: [
      "# EVEMU 1.3\nN: x\n", "Input driver version is 1.0.1\nSupported events:\n",
      "add device 1: /dev/input/event3\n  name: \"x\"\n", "version: 1\nndevices: 1\ndevices:\n",
      "# EVEMU 1.3\nE: 1.000000 0002 0000 0001\nE: 1.000000 0000 0000 0000\n",
    ])
  func nothing(_ text: String) throws {
    let outcome = try read(text)
    #expect(outcome.error == nil)
    #expect(outcome.unused.count == 1)
    let lenient = try read(text + "damaged\n", isLenient: true)
    #expect((lenient.skipped.count, lenient.unused.count) == (1, 1))
    let two = try Outcome([text, try #require(Self.events[.evemu])])
    #expect((two.error, two.unused.count, two.events.count) == (nil, 1, 1))
  }
}

@Suite("Recordings from the world")
struct CaseTests {
  private func outcome(_ name: String, format: RecordingFormat? = nil) throws -> Outcome {
    let path = "\(checkout)/Tests/RecordingsTests/Recordings/cases/\(name)"
    return try Outcome(Array(Data(contentsOf: URL(filePath: path))), format: format)
  }

  @Test(
    "descriptions, times with dashes, indentation and byte order marks do not matter",
    arguments: [
      ("axes.getevent", [(1_234_500_000, 0x14a, .press)]),
      ("labels.getevent", [(1_234_500_000, 0x14a, .press)]),
      ("info.getevent", [(1_234_500_000, 42, .press), (1_234_600_000, 42, .release)]),
      ("dashes.getevent", [(1_234_500_000, 42, .press), (1_234_600_000, 42, .release)]),
      ("dashes-labels.getevent", [(12_500_000, 42, .press)]),
      ("indented.getevent", [(12_500_000, 42, .press)]),
      ("mark.getevent", [(1_234_500_000, 42, .press), (1_234_600_000, 42, .release)]),
      (
        "mark.evemu",
        [
          (1_000_000, 42, .press), (1_180_000, 42, .release), (1_180_100, 111, .press),
          (1_260_000, 111, .release), (1_260_100, 42, .press), (1_350_000, 42, .release),
        ]
      ),
    ] as [(String, [(Int64, Int, KeyEvent.Action)])])
  func whole(_ name: String, _ events: [(Int64, Int, KeyEvent.Action)]) throws {
    let outcome = try outcome(name)
    #expect(outcome.error == nil)
    #expect(try outcome.events == events.map { try event($0.0, $0.1, $0.2) })
  }

  @Test("a mark before evtest's first line does not matter either")
  func evtest() throws {
    let outcome = try outcome("mark.evtest")
    #expect(outcome.error == nil)
    #expect(outcome.events.count == 6)
  }

  @Test("what cannot be read is an error that says why")
  func faults() throws {
    #expect(
      try outcome("colon.getevent").error == "FILE:3: neither an event nor a line about a device")
    let wide =
      "FILE: this is UTF-16, which PowerShell's '>' writes; 'iconv -f UTF-16 -t UTF-8' converts it"
    for format in [nil, RecordingFormat.evemu, .libinput, .evtest, .getevent] {
      #expect(try outcome("utf-16.getevent", format: format).error == wide)
    }
  }

  @Test(
    "UTF-16 of either order is named, and what iconv makes of it is read",
    arguments: LEDTests.formats)
  func wide(_ format: RecordingFormat, _ text: String) throws {
    let expected = try read(text).inputs
    let folder = try TemporaryFolder()
    for (encoding, name, mark) in [
      (String.Encoding.utf16LittleEndian, "UTF-16LE", []),
      (.utf16BigEndian, "UTF-16BE", []), (.utf16LittleEndian, "UTF-16", [0xff, 0xfe]),
      (.utf16BigEndian, "UTF-16", [0xfe, 0xff]),
    ] as [(String.Encoding, String, [UInt8])] {
      let bytes = mark + Array(try #require(text.data(using: encoding)))
      for format in [nil, format] {
        let error = try #require(try Outcome(bytes, format: format).error)
        #expect(error.contains("UTF-16") && error.contains("'iconv -f \(name) -t UTF-8'"))
      }
      let file = try folder.write("wide", bytes)
      let converted = try run("/usr/bin/iconv", ["-f", name, "-t", "UTF-8", file])
      #expect(try read(converted.output).inputs == expected)
    }
  }

  @Test("a compressed file is named as one, with the command that unpacks it")
  func compressed() throws {
    let folder = try TemporaryFolder()
    for (program, suffix, unpacking) in [("gzip", "gz", "gunzip"), ("xz", "xz", "unxz")] {
      let file = try folder.write("events", LEDTests.formats[0].1)
      _ = try run("/usr/bin/\(program)", ["--keep", file])
      let packed = try Data(contentsOf: URL(fileURLWithPath: "\(file).\(suffix)"))
      #expect(
        try Outcome(Array(packed), format: nil).error
          == "FILE: this is compressed; '\(unpacking)' unpacks it")
    }
    // As RFC 8878 and APPNOTE.TXT of ZIP say that files begin.
    let others: [([UInt8], String)] = [
      ([0x28, 0xb5, 0x2f, 0xfd], "unzstd"), ([0x50, 0x4b, 3, 4], "unzip"),
    ]
    for (start, unpacking) in others {
      #expect(
        try Outcome(start + Array(repeating: 7, count: 60), format: nil).error
          == "FILE: this is compressed; '\(unpacking)' unpacks it")
    }
  }

  @Test("a fault says what the file looks like if the user named another format")
  func misnamed() throws {
    let folder = try TemporaryFolder()
    let raw =
      [UInt8](repeating: 0, count: 7) + [0] + [1] + [UInt8](repeating: 0, count: 7) + [
        1, 0, 30, 0, 1, 0, 0, 0,
      ]
    let recordings: [(RecordingFormat, [UInt8])] =
      LEDTests.formats.map { ($0.0, Array($0.1.utf8)) } + [(.raw64, raw)]
    for (format, bytes) in recordings {
      let file = try folder.write("recording", bytes)
      for other in RecordingFormat.allCases where other != format {
        var recording = try Recording(opening: [file], format: other)
        var fault: RecordingError?
        do throws(RecordingError) { while try recording.next() != nil {} } catch { fault = error }
        let text = recording.explained(try #require(fault, "\(format) as \(other)")).message
        #expect(
          text.hasSuffix(" (read as \(other.rawValue), but it looks like \(format.rawValue))"),
          "\(format) as \(other): \(text)")
      }
    }
  }
}

@Suite("LEDs in the headers of recordings")
struct HeaderLEDTests {
  private func leds(_ led: LEDs, _ isOn: Bool, _ device: Int = 0) -> Controller.Input {
    .leds(DeviceID(order: device), LEDReport(led, on: isOn ? led : []), at: nil)
  }

  @Test("evtest's tells which were on")
  func evtest() throws {
    let outcome = try read(
      """
      Input driver version is 1.0.1
      Supported events:
        Event type 0 (EV_SYN)
        Event type 1 (EV_KEY)
          Event code 1 (KEY_ESC)
        Event type 17 (EV_LED)
          Event code 0 (LED_NUML) state 0
          Event code 1 (LED_CAPSL) state 1
          Event code 2 (LED_SCROLLL) state 1
        Event type 5 (EV_SW)
          Event code 1 (SW_TABLET_MODE) state 0
      Testing ... (interrupt to exit)
      Event: time 1.000000, type 17 (EV_LED), code 1 (LED_CAPSL), value 0

      """)
    #expect(outcome.error == nil)
    let (caps, num) = (Lock.caps.led, Lock.num.led)
    #expect(
      outcome.inputs == [
        leds(num, false), leds(caps, true),
        .leds(DeviceID(order: 0), LEDReport(caps), at: Time(microseconds: 1_000_000)),
      ])
  }

  @Test("libinput's tells it of each device")
  func libinput() throws {
    func section(_ state: Int) -> String {
      """
      - node: x
        evdev:
          # Name: keyboard
          # Supported Events:
          # Event type 0 (EV_SYN)
          # Event type 1 (EV_KEY)
          #   Event code 1 (KEY_ESC)
          # Event type 17 (EV_LED)
          #   Event code 1 (LED_CAPSL)
          #       State \(state)
          #   Event code 2 (LED_SCROLLL)
          #       State 1
          # Event type 5 (EV_SW)
          #   Event code 1 (SW_TABLET_MODE)
          #       State 1
          # Properties:
          name: "keyboard"
        events:
        - evdev:
          - [1, \(state), 1, 30, 1]

      """
    }
    let outcome = try read(
      "version: 1\nndevices: 2\ndevices:\n" + section(1) + section(0))
    #expect(outcome.error == nil)
    #expect(outcome.inputs.prefix(2) == [leds(Lock.caps.led, true), leds(Lock.caps.led, false, 1)])
    #expect(outcome.inputs.count == 4)
  }
}
