import Foundation
import TestSupport
import Testing

/// What the compiler says of machines, as programmers would see it.
@Suite("The compiler")
struct CompilerTests {
  private static let checkout = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().path

  /// Compiles `source` together with the module, in the language mode of the project.
  private func compile(_ source: String, _ options: String, in folder: TemporaryFolder) throws
    -> Ended
  {
    let file = try folder.write("main.swift", source)
    let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
    return try run(
      "/bin/sh",
      [
        "-c",
        "swiftc -swift-version 6 \(options) '\(Self.checkout)'/Sources/StateMachines/*.swift \(file)",
      ],
      environment: ["PATH": path])
  }

  private func machine(states: String, events: String) -> String {
    """
    struct Turnstile: Rules {
      enum State { case \(states) }
      enum Event { case \(events) }
      var initial: State { .locked }
      func next(_ state: State, on event: Event) -> State? {
        switch (state, event) {
        case (.locked, .coin): .unlocked
        case (.unlocked, .push): .locked
        case (.locked, .push), (.unlocked, .coin): nil
        }
      }
    }
    """
  }

  @Test(
    "names what a machine forgets",
    arguments: [
      ("locked, unlocked", "coin, push", nil),
      ("locked, unlocked, broken", "coin, push", "(.broken, _)"),
      ("locked, unlocked", "coin, push, kick", "(_, .kick)"),
    ] as [(String, String, String?)])
  func exhaustive(_ states: String, _ events: String, _ missing: String?) throws {
    let folder = try TemporaryFolder()
    let ended = try compile(machine(states: states, events: events), "-typecheck", in: folder)
    guard let missing else {
      #expect(ended.status == 0, "\(ended.errors)")
      return
    }
    #expect(ended.status != 0)
    #expect(ended.errors.contains("error: switch must be exhaustive"))
    #expect(ended.errors.contains("add missing case: '\(missing)'"), "\(ended.errors)")
  }

  @Test("does not let the state be set from outside")
  func stateIsPrivate() throws {
    let folder = try TemporaryFolder()
    let source =
      machine(states: "locked, unlocked", events: "coin, push")
      + "\nfunc f(_ m: inout StateMachine<Turnstile>) { m.state = .unlocked }\n"
    let ended = try compile(source, "-typecheck", in: folder)
    #expect(ended.status != 0)
    #expect(ended.errors.contains("cannot assign to property: 'state' is a get-only property"))
  }

  @Test("takes README's example as it stands, and it prints what README says")
  func readme() throws {
    let readme = try String(contentsOfFile: "\(Self.checkout)/README.md", encoding: .utf8)
    let section = try #require(
      readme.components(separatedBy: "## State machines in Swift\n").dropFirst().first?
        .components(separatedBy: "\n## ").first)
    let blocks = section.components(separatedBy: "```")
    let example = String(
      try #require(blocks.dropFirst().first { $0.hasPrefix("swift\n") }).dropFirst(6))
    #expect(example.split(separator: "\n", omittingEmptySubsequences: false).count < 31)
    #expect(example.contains("import StateMachines\n"))
    let shown = try #require(blocks.dropFirst(2).first).components(separatedBy: "\n")
      .filter { $0.hasPrefix("    ") }.map { $0.dropFirst(4) + "\n" }.joined()
    #expect(!shown.isEmpty)
    let folder = try TemporaryFolder()
    // Compiled in one go with the module, which then cannot be imported.
    let source = example.replacing("import StateMachines\n", with: "")
    let compiled = try compile(source, "-o \(folder.path)/example", in: folder)
    #expect(compiled.status == 0, "\(compiled.errors)")
    #expect(try run("\(folder.path)/example", []).output == shown)
  }
}
