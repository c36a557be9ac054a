import Foundation
import TestSupport
import Testing

@Suite("The library alone")
struct StandaloneTests {
  @Test(
    "a package that depends on it builds nothing of the daemon, without C libraries or warnings",
    .timeLimit(.minutes(5)))
  func build() throws {
    let page = try String(contentsOfFile: "\(checkout)/docs/state-machines.md", encoding: .utf8)
    let manifest = try #require(
      page.components(separatedBy: "```swift\n").first { $0.hasPrefix("// swift-tools-version") }
    ).components(separatedBy: "```")[0].replacing("\"../keymoded\"", with: "\"\(checkout)\"")
    let folder = try TemporaryFolder()
    for name in ["Sources/Lights", "Tests/LightsTests"] {
      try FileManager.default.createDirectory(
        atPath: "\(folder.path)/\(name)", withIntermediateDirectories: true)
    }
    _ = try folder.write("Package.swift", manifest)
    _ = try folder.write(
      "Sources/Lights/Light.swift",
      """
      import ObservedMachines
      import StateMachines
      func light() -> Bool? {
        ObservedMachine(initial: false) { (state, _: Int) in !state }.state
      }
      """)
    _ = try folder.write("Tests/LightsTests/Tests.swift", "import StateMachineTesting\n")
    let none = "\(folder.path)/no-packages"
    let ended = try run(
      "/bin/sh", ["-c", "exec swift build --package-path \"$0\" 2>&1", folder.path],
      environment: [
        "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin", "HOME": folder.path,
        "PKG_CONFIG_PATH": none, "PKG_CONFIG_LIBDIR": none,
      ])
    #expect(ended.status == 0, "\(ended.output)")
    #expect(!ended.output.contains("warning:"), "\(ended.output)")
    let modules = "\(folder.path)/.build/debug/Modules"
    let built = try FileManager.default.contentsOfDirectory(atPath: modules)
    #expect(
      built.filter { $0.hasSuffix(".swiftmodule") }.sorted()
        == ["Lights.swiftmodule", "ObservedMachines.swiftmodule", "StateMachines.swiftmodule"])
  }
}
