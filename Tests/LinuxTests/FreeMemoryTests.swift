import Foundation
import Linux
import Testing

@Suite("Free memory")
struct FreeMemoryTests {
  /// How much code of this process is resident, in KiB.
  private func residentCode() throws -> Int {
    var sum = 0
    var isCode = false
    let maps = try String(contentsOfFile: "/proc/self/smaps", encoding: .utf8)
    for line in maps.split(separator: "\n") {
      let fields = line.split(separator: " ")
      if fields[0].contains("-") { isCode = fields[1].hasPrefix("r-x") }
      if isCode, fields[0] == "Rss:" { sum += Int(fields[1]) ?? 0 }
    }
    return sum
  }

  @Test("code that has run is not resident after it is unmapped, and runs again")
  func code() throws {
    let before = try residentCode()
    unmapCode()
    let after = try residentCode()
    #expect(after < before, "\(before) KiB before, \(after) KiB after")
    #expect("\(Double.pi)".hasPrefix("3.14"))
  }
}
