/// How short names differ from the kernel's.
enum KeyName {
  typealias Pair = (name: String, kernelName: String)

  /// The shown short names that differ from the kernel's names in more than case.
  ///
  /// `Menu` and `Print` are not KEY_MENU and KEY_PRINT: they mean the keys with these labels on PC
  /// keyboards, which send KEY_COMPOSE and KEY_SYSRQ.
  static let preferred: [Pair] = [
    ("Menu", "KEY_COMPOSE"), ("Print_Screen", "KEY_SYSRQ"), ("AltGr", "KEY_RIGHTALT"),
    ("Period", "KEY_DOT"), ("Left_Super", "KEY_LEFTMETA"), ("Right_Super", "KEY_RIGHTMETA"),
    ("Left_Ctrl", "KEY_LEFTCTRL"), ("Right_Ctrl", "KEY_RIGHTCTRL"), ("Left_Alt", "KEY_LEFTALT"),
    ("Left_Shift", "KEY_LEFTSHIFT"), ("Right_Shift", "KEY_RIGHTSHIFT"),
    ("Scroll_Lock", "KEY_SCROLLLOCK"), ("Caps_Lock", "KEY_CAPSLOCK"), ("Num_Lock", "KEY_NUMLOCK"),
    ("Page_Up", "KEY_PAGEUP"), ("Page_Down", "KEY_PAGEDOWN"), ("Left_Brace", "KEY_LEFTBRACE"),
    ("Right_Brace", "KEY_RIGHTBRACE"), ("Volume_Up", "KEY_VOLUMEUP"),
    ("Volume_Down", "KEY_VOLUMEDOWN"), ("Brightness_Up", "KEY_BRIGHTNESSUP"),
    ("Brightness_Down", "KEY_BRIGHTNESSDOWN"), ("Mic_Mute", "KEY_MICMUTE"),
    ("Play_Pause", "KEY_PLAYPAUSE"), ("Next_Song", "KEY_NEXTSONG"),
    ("Previous_Song", "KEY_PREVIOUSSONG"),
  ]

  /// Keys that PC keyboards lack. Other keys of PC keyboards have the labels of these keys.
  private static let missingOnPCs = ["KEY_MENU", "KEY_PRINT"]

  /// Further short names that are read, but never shown.
  static let aliases: [Pair] = [
    ("Ctrl", "KEY_LEFTCTRL"), ("Control", "KEY_LEFTCTRL"), ("Alt", "KEY_LEFTALT"),
    ("Shift", "KEY_LEFTSHIFT"), ("Super", "KEY_LEFTMETA"), ("Meta", "KEY_LEFTMETA"),
    ("Win", "KEY_LEFTMETA"), ("Windows", "KEY_LEFTMETA"), ("Cmd", "KEY_LEFTMETA"),
    ("Command", "KEY_LEFTMETA"),
    ("Left_Control", "KEY_LEFTCTRL"), ("Right_Control", "KEY_RIGHTCTRL"),
    ("Left_Win", "KEY_LEFTMETA"),
    ("Right_Win", "KEY_RIGHTMETA"), ("Escape", "KEY_ESC"), ("Return", "KEY_ENTER"),
    ("Del", "KEY_DELETE"), ("Ins", "KEY_INSERT"), ("PgUp", "KEY_PAGEUP"),
    ("PgDn", "KEY_PAGEDOWN"), ("PgDown", "KEY_PAGEDOWN"), ("Print", "KEY_SYSRQ"),
    ("PrtSc", "KEY_SYSRQ"), ("PrtScn", "KEY_SYSRQ"), ("Spacebar", "KEY_SPACE"),
    ("Equals", "KEY_EQUAL"), ("Quote", "KEY_APOSTROPHE"), ("Backtick", "KEY_GRAVE"),
    ("Hyphen", "KEY_MINUS"), ("Left_Bracket", "KEY_LEFTBRACE"),
    ("Right_Bracket", "KEY_RIGHTBRACE"),
  ]

  /// The characters that keys of the US layout type without Shift, except letters and digits.
  static let characters: [Character: String] = [
    ".": "KEY_DOT", ",": "KEY_COMMA", ";": "KEY_SEMICOLON", "/": "KEY_SLASH",
    "\\": "KEY_BACKSLASH", "-": "KEY_MINUS", "=": "KEY_EQUAL", "'": "KEY_APOSTROPHE",
    "`": "KEY_GRAVE", "[": "KEY_LEFTBRACE", "]": "KEY_RIGHTBRACE",
  ]

  /// The name to show for a key: the kernel's name for buttons and for the keys in `missingOnPCs`,
  /// the short name for all other keys.
  static func short(ofKernelName name: String) -> String {
    if let pair = preferred.first(where: { $0.kernelName == name }) { return pair.name }
    guard name.hasPrefix("KEY_"), !missingOnPCs.contains(name) else { return name }
    let rest = name.dropFirst(4)
    guard rest.hasPrefix("KP"), rest.count > 2 else { return capitalized(rest) }
    return "KP_\(capitalized(rest.dropFirst(2)))"
  }

  /// The words between underscores, each with one capital letter.
  private static func capitalized(_ name: Substring) -> String {
    name.split(separator: "_").map { $0.prefix(1) + $0.dropFirst().lowercased() }
      .joined(separator: "_")
  }
}
