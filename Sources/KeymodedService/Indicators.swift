import KeyboardModes

/// The LEDs that show states: which they are, and which were last on.
struct Indicators {
  /// Which LEDs, and which of them are on.
  typealias LEDs = (lit: Lights, used: Lights)

  private var rules = LightRules()
  private var lit: Lights = []

  /// Applies other rules, and returns the LEDs to switch by them.
  mutating func show(_ modes: Modes, by rules: LightRules) -> LEDs {
    self.rules = rules
    lit = rules.lit(in: modes)
    return (lit, rules.used)
  }

  /// The LEDs to switch for these states; `nil` if they stay as they are.
  mutating func show(_ modes: Modes) -> LEDs? {
    guard !rules.used.isEmpty else { return nil }
    let lit = rules.lit(in: modes)
    guard lit != self.lit else { return nil }
    self.lit = lit
    return (lit, rules.used)
  }
}
