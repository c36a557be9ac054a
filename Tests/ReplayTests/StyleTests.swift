import Foundation
import Testing

@testable import Replay

@Suite("Timeline: colours")
struct StyleTests {
  @Test("text has enough contrast in the light and the dark theme")
  func contrast() throws {
    let parts = Style.sheet.split(separator: "@media")
    let light = try colours(String(parts[0]))
    let dark = light.merging(try colours(String(parts[1]))) { $1 }
    #expect(light.count > 10 && light["c0"] != dark["c0"] && light["c1"] == dark["c1"])
    for theme in [light, dark] {
      let paper = try #require(theme["paper"])
      for name in ["text", "quiet"] {
        let colour = try #require(theme[name])
        #expect(ratio(colour, paper) >= 4.5, "\(name)")
      }
      for index in 0...6 {
        let ink = try #require(theme["on"])
        let colour = try #require(theme["c\(index)"])
        #expect(ratio(ink, colour) >= 4.5, "c\(index)")
      }
      for name in ["press", "many"] {
        let colour = try #require(theme[name])
        #expect(ratio(colour, paper) >= 3, "\(name)")
      }
    }
  }

  /// The luminance of each class's fill, or of its stroke where it has no fill.
  private func colours(_ sheet: String) throws -> [String: Double] {
    var result: [String: Double] = [:]
    for line in sheet.split(separator: "\n") {
      guard let match = line.firstMatch(of: /([^{]+) {.*?(?:fill|stroke): #([0-9a-f]{6})/) else {
        continue
      }
      let number = try #require(Int(match.2, radix: 16))
      let channels = [16, 8, 0].map { shift in
        let value = Double(number >> shift & 0xff) / 255
        return value <= 0.03928 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
      }
      let luminance = 0.2126 * channels[0] + 0.7152 * channels[1] + 0.0722 * channels[2]
      for name in match.1.split(separator: ", ") {
        result[String(name.drop { $0 == "." })] = luminance
      }
    }
    return result
  }

  private func ratio(_ one: Double, _ other: Double) -> Double {
    (max(one, other) + 0.05) / (min(one, other) + 0.05)
  }
}
