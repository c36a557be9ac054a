extension RegularFormat {
  /// Lines that a fast path has to leave to the parser, or to read as the parser does.
  var others: [String] {
    switch testDescription {
    case "evtest": Self.othersOfEvtest
    case "libinput": Self.othersOfLibinput
    default: Self.othersOfGetevent
    }
  }

  private static let othersOfEvtest: [String] = {
    let time = "Event: time 1.000000, "
    let shift = "type 1 (EV_KEY), code 42 (KEY_LEFTSHIFT)"
    return [
      "\(time)\(shift), value 2",
      "\(time)\(shift), value 3",
      "\(time)\(shift), value 10",
      "\(time)\(shift), value -1",
      "\(time)\(shift), value 1\r",
      "\(time)\(shift),",
      "\(time)type 4 (EV_MSC), code 4 (MSC_SCAN),", "value 1",
      "\(time)type 1 (EV_KEY), code 767 (?), value 1",
      "\(time)type 1 (EV_KEY), code 768 (?), value 1",
      "\(time)type 1 (EV_KEY), code 99999 (?), value 1",
      "\(time)type 1 (EV_KEY), code  (?), value 1",
      "\(time)type 1 (EV_KEY), code 42 (KEY A), value 1",
      "\(time)type 1 (EV_KEY), code 42 (value 0), value 1",
      "\(time)type 0 (Reset), code 0 (Reset), value 0",
      "\(time)type 0 (Reset), code 3 (Reset), value 0",
      "\(time)type 2 (EV_REL), code 0 (REL_X), value -1",
      "\(time)type 2 (EV_REL), code 0 (REL_X)",
      "\(time)type 65536 (?), code 0 (REL_X), value -1",
      "\(time)++++++++++++++ SYN_MT_REPORT ++++++++++++",
      "\(time)>>>>>>>>>>>>>> SYN_DROPPED <<<<<<<<<<<<",
      "\(time)-------------- Report Sync ------------",
      "Event: time 12345678901.000000, -------------- SYN_REPORT ------------",
      "Event: time 123456789012.000000, -------------- SYN_REPORT ------------",
      "Event: time 1.00000, -------------- SYN_REPORT ------------",
      "\(time)type 4 (EV_MSC), code 4 (MSC_SCAN), value x Event: time 2.000000, ",
      "\(time)type 4 (EV_MSC), code 4 (MSC_SCAN), value "
        + String(repeating: "x", count: 70_000),
      "", "xEvent: time 1.000000, -------------- SYN_REPORT ------------",
    ]
  }()

  private static let othersOfGetevent: [String] = {
    let time = "[       1.000000] "
    let path = "/dev/input/event2: "
    return [
      "[1.000000] \(path)0001 002a 00000001",
      "\(time)\(path)0001 002a 00000002 ",
      "\(time)\(path)0001 002a 00000003",
      "\(time)\(path)0001 002A 00000001",
      "\(time)\(path)0001 0300 00000001",
      "\(time)\(path)0001 002a ffffffff",
      "\(time)\(path)0001 002a 00000001 rate 3",
      "\(time)\(path)0000 0000 00000000            rate 3",
      "\(time)\(path)0001 002a 00000001 x",
      "\(time)\(path)0001 002a 00000001\r",
      "\(time)\(path)0000 0003 00000000",
      "\(time)\(path)0000 0000 00000001",
      "\(time)\(path)0003 0035 ffffff9c",
      "\(time)\(path)0003 0035 ffffff9x",
      "\(time)/dev/input/event2:: 0001 002a 00000001",
      "\(time)/dev/input/event22: 0001 002a 00000001",
      "\(time)/dev/input/event2 0001 002a 00000001",
      "\(time)0001 002a 00000001", "\(time) 0001 002a 00000001",
      "[       1.00000] 0001 002a 00000001", "[        .000000] 0001 002a 00000001",
      "[       1.000000]0001 002a 00000001", "1-42: \(path)0001 002a 00000001",
      "\(time)\(path)EV_KEY       KEY_B                DOWN                ",
      "\(time)\(path)EV_KEY       KEY_B                UP",
      "\(time)\(path)EV_KEY       KEY_B                REPEAT              ",
      "\(time)\(path)EV_KEY       KEY_B                DOW                 ",
      "\(time)\(path)EV_KEY       KEY_NONE             DOWN                ",
      "\(time)\(path)EV_KEY       002a                 DOWN                ",
      "\(time)\(path)EV_KEY       KEY_B x              DOWN                ",
      "\(time)\(path)EV_SYN       SYN_DROPPED          00000000            ",
      "\(time)\(path)EV_ABS       ABS_MT_POSITION_X    ffffff9c            ",
      "\(time)\(path)EV_ABS       ABS_X\n                    ffffff9c        ",
      "\(time)\(path)EV_SYNX      SYN_REPORT           00000000            ",
      "remove device 1: /dev/input/event2", "add device 2: /dev/input/event3", "",
    ]
  }()

  private static let othersOfLibinput = [
    "    - [  1,      0,   1,  42,       2]", "    - [  1,      0,   1,  42,       3]",
    "    - [  1,      0,   1,  42,       1] #", "    - [  1,      0,   1,  42,       1]# a",
    "    - [  1,      0,   1,  42,       1] x", "    - [  1,      0,   1,  42,       1] # \u{e4}",
    "    - [  1,      0,   1,  42,       1] # \u{85} x", "    - [  1,      0,   1,  42,       1]\r",
    "    - [  1,      0,   1,  42,       1] # a\rx",
    "    - [  1,      0,   1,  42,       1] # \u{0}",
    "    - [  1,      0,   1, 768,       1]", "    - [  1,      0,   1, 767,       1]",
    "    - [  1,      0,   1,  42,      01]", "    - [  1,      0,   1,  42,        ]",
    "    - [  1,      0,   1,  4 2,      1]", "    - [  1,      0,   1,  42,       1",
    "    - [  1,      0,   1,  42,       1], 2]", "    - [   ,      0,   1,  42,       1]",
    "    - [1, 0, 1, 42, 1]", "   - [  1,      0,   1,  42,       1]",
    "     - [  1,      0,   1,  42,       1]", "    - [  1,       ,   1,  42,       1]",
    "    - [  1,0000000,   1,  42,       1]", "    - [  1, 1 0000,   1,  42,       1]",
    "    - [  1,     -1,   1,  42,       1]", "    - [  1, 999999,   1,  42,       1]",
    "    - [1234567890123,      0,   1,  42,       1]", "    - [ -1,      0,   1,  42,       1]",
    "    - [  1,      0,   0,   3,       0]", "    - [  1,      0,   0,   0,       1]",
    "    - [  1,      0,   2,   0,      -1]", "    - [  1,      0,   2,   0,     - 1]",
    "    - [  1,      0,   2,   0,      --]", "    - [  1,      0,   4,   4, -458977]",
    "    - [  1,      0,   4,   4,      30] # EV_MSC / MSC_SCAN  30 (obfuscated)",
    "    - [  1,      0,   4,   4,      30]\n    - [  1,      0,   1,  42,       1]",
    "  - evdev:", "  - evdev: []", "  - evdev: [[1, 0, 1, 42, 1], [1, 0, 0, 0, 0]]",
    "  - evdev: {}", "  - evdev:\n  # a\n    # b\n    - [  1,      0,   1,  42,       1]",
    "  - keymoded: lost", "  - keymoded: {held: [29, 56]}", "  - keymoded: {gone: [10, 0]}",
    "  - keymoded: missed",
    "  - hid:\n      time: [  9,     20]\n      hidraw0: [  0,   2,   0]", "  - libinput:",
    "  # Current time is 12:31:56", "  #", "  # \u{e4}", "# a", "  x: y", "}", "---", "...", "",
    "- node: x\n  events:", "  events:\n  - evdev:", "\t", "    more", "  - evdev: \"",
  ]
}
