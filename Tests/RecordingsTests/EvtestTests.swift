import KeyboardModes
import Recordings
import Testing

@Suite("Recordings of evtest")
struct EvtestTests {
  private static let header = """
    Input driver version is 1.0.1
    Input device ID: bus 0x11 vendor 0x1 product 0x1 version 0xab41
    Input device name: "AT Translated Set 2 keyboard"
    Supported events:
      Event type 0 (EV_SYN)
      Event type 1 (EV_KEY)
        Event code 1 (KEY_ESC)
    Key repeat handling:
      Repeat type 20 (EV_REP)
        Repeat code 0 (REP_DELAY)
          Value    250
    Properties:
    Testing ... (interrupt to exit)

    """

  @Test("the key events of evtest are returned")
  func whole() throws {
    let outcome = try read(
      Self.header + """
        Event: time 1420070400.000001, type 4 (EV_MSC), code 4 (MSC_SCAN), value 2a
        Event: time 1420070400.000001, type 1 (EV_KEY), code 42 (KEY_LEFTSHIFT), value 1
        Event: time 1420070400.000001, -------------- SYN_REPORT ------------
        Event: time 1420070400.250001, type 1 (EV_KEY), code 42 (KEY_LEFTSHIFT), value 2
        Event: time 1420070400.250001, -------------- SYN_REPORT ------------
        Event: time 1420070400.900001, type 17 (EV_LED), code 1 (LED_CAPSL), value 1
        Event: time 1420070400.900001, type 1 (EV_KEY), code 42 (KEY_LEFTSHIFT), value 0
        Event: time 1420070400.900001, -------------- SYN_REPORT ------------

        """)
    #expect(outcome.error == nil)
    let second: Int64 = 1_420_070_400_000_000
    #expect(
      try outcome.events == [
        event(second + 1, 42, .press), event(second + 250_001, 42, .autorepeat),
        event(second + 900_001, 42, .release),
      ])
  }

  @Test(
    "lines of real evtest recordings are accepted",
    arguments: [
      "Event: time 3.000000, type 1 (EV_KEY), code 30 (KEY_A), value 1",
      "Event: time 3.000000, type 1 (Key), code 30 (A), value 1",
      "Event: time 3.000000, type 1 (EV_KEY), code 30 (?), value 1",
    ])
  func quirks(_ line: String) throws {
    for end in ["\n", "\r\n"] {
      let outcome = try read("\t" + line + end)
      #expect(outcome.error == nil)
      #expect(try outcome.events == [event(3_000_000, 30, .press)])
    }
  }

  @Test(
    "events between SYN_DROPPED and the next report are skipped, in all spellings of evtest",
    arguments: [
      "-------------- SYN_REPORT ------------", "-------------- Report Sync ------------",
      "-------------- EV_SYN ------------", "type 0 (Reset), code 0 (Reset), value 0",
    ])
  func dropped(_ report: String) throws {
    let outcome = try read(
      """
      Event: time 1.000000, type 1 (EV_KEY), code 30 (KEY_A), value 1
      Event: time 1.000000, \(report)
      Event: time 2.000000, >>>>>>>>>>>>>> SYN_DROPPED <<<<<<<<<<<<
      Event: time 2.000000, type 1 (EV_KEY), code 30 (KEY_A), value 0
      Event: time 2.000000, ++++++++++++++ SYN_MT_REPORT ++++++++++++
      Event: time 2.000000, type 1 (EV_KEY), code 48 (KEY_B), value 1
      Event: time 2.000000, \(report)
      Event: time 3.000000, type 1 (EV_KEY), code 46 (KEY_C), value 1

      """)
    #expect(outcome.error == nil)
    #expect(try outcome.events == [event(1_000_000, 30, .press), event(3_000_000, 46, .press)])
  }

  @Test(
    "a bad evtest line is reported with its number, after the events before it",
    arguments: [
      ("Event: time 1.5, type 1", #"event time "1.5" does not have six digits after the point"#),
      ("Event: time x, type 1", #"event time "x" is not SECONDS.MICROSECONDS"#),
      ("Event: time ", "an event without a time"),
      ("Event: time 1.000000,", "an event without a type"),
      ("Event: time 1.000000, type", "an event without a type"),
      ("Event: time 1.000000, type 0x1, code 1", #"event type "0x1" is not a decimal number"#),
      ("Event: time 1.000000, type 1 (EV_KEY)", "an event without a code"),
      ("Event: time 1.000000, type 1 (EV_KEY), code ", "an event without a code"),
      (
        "Event: time 1.000000, type 1 (EV_KEY), code 70000 (?), value 1",
        #"event code "70000" is not a decimal number"#
      ),
      ("Event: time 1.000000, type 1 (EV_KEY), code 800 (?), value 1", "key code 800 is above 767"),
      (
        "Event: time 1.000000, type 1 (EV_KEY), code 30 (KEY_A), value 7",
        "key value 7 is not 0, 1 or 2"
      ),
      (
        "Event: time 1.000000, type 1 (EV_KEY), code 30 (KEY_A), value down",
        #"event value "down" is not a decimal number"#
      ),
      (
        "Event: time 1.000000, type 1 (EV_KEY), code 30 (KEY_A), value ", "an event without a value"
      ),
      (
        "Event: time 1.000000, wrong",
        "neither 'type' nor a synchronization event follows the time"
      ),
    ])
  func badLine(_ line: String, _ message: String) throws {
    let good = "Event: time 0.000001, type 1 (EV_KEY), code 30 (KEY_A), value 1\n"
    let outcome = try read(good + line + "\n")
    #expect(outcome.error == "FILE:2: \(message)")
    #expect(try outcome.events == [event(1, 30, .press)])
  }

  @Test("an evtest recording may have no events, and other texts are refused")
  func withoutEvents() throws {
    #expect(try read(Self.header).error == nil)
    let message = "neither an event nor a line of evtest's header"
    #expect(try read("hello\n", format: .evtest).error == "FILE:1: \(message)")
    #expect(try read("hello\n", format: .evtest, isLenient: true).error == "FILE: not a recording")
  }

  @Test("an event whose line is cut off is reported")
  func torn() throws {
    let text = """
      Event: time 1.000000, type 1 (EV_KEY), code 42 (KEY_LEFTSHIFT), value 1
      Event: time 2.000000, type 1 (EV_KEY), code 42 (KEY_LEFTSH
      """
    let outcome = try read(text)
    #expect(outcome.error == "FILE:2: the recording is cut off here")
    #expect(try outcome.events == [event(1_000_000, 42, .press)])
  }

  @Test("evtest is detected by its list of events if the first lines are missing")
  func withoutDriver() throws {
    let codes = (0..<400).map { "    Event code \($0) (KEY_A)\n" }.joined()
    let text =
      "Supported events:\n  Event type 1 (EV_KEY)\n\(codes)"
      + "Event: time 3.000000, type 1 (EV_KEY), code 30 (KEY_A), value 1\n"
    #expect(try read(text).events.count == 1)
    #expect(try Outcome(Array(text.utf8), throughPipe: true).events.count == 1)
  }
}
