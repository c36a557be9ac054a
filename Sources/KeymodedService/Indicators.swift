import KeyboardModes

/// Decides which LEDs show the states, and remembers which are on.
struct Indicators {
  /// The LEDs that show each state.
  var rules = LEDRules()
  private var on: LEDs = []

  /// Applies other rules, and returns the LEDs to switch by them.
  mutating func show(_ modes: Modes, by rules: LEDRules) -> LEDOrder {
    self.rules = rules
    on = rules.on(in: modes)
    return LEDOrder(on, of: rules.used)
  }

  /// The LEDs to switch for these states; `nil` if they stay as they are.
  mutating func show(_ modes: Modes) -> LEDOrder? {
    guard !rules.used.isEmpty else { return nil }
    let on = rules.on(in: modes)
    guard on != self.on else { return nil }
    self.on = on
    return LEDOrder(on, of: rules.used)
  }
}
