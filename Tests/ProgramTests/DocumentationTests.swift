import Foundation
import TestSupport
import Testing
import Wire

/// Not in the trait itself: the compiler of Swift 6.0 crashes on an interpolation there.
private let hasDebianFolder = FileManager.default.fileExists(atPath: "\(checkout)/debian")

/// The documentation must say what keymoded does.
@Suite("Documentation")
struct DocumentationTests {
  private static func text(_ path: String) throws -> String {
    try String(contentsOfFile: "\(checkout)/\(path)", encoding: .utf8)
  }

  /// The changes that a text shows: lines that begin with a time.
  private func changes(_ text: String) -> [String] {
    text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.filter {
      $0.contains(" → ") && $0.first?.isNumber == true
    }
  }

  @Test("README shows the changes of the bundled recording")
  func session() throws {
    let shown = changes(try Self.text("README.md"))
    let replayed = try run("keymodectl", "replay", "\(checkout)/examples/demo.evemu")
    #expect(shown.count == 10)
    #expect(shown == changes(replayed.output))
  }

  /// README and the pages of docs.
  private static func pages() throws -> [String] {
    let docs = try FileManager.default.contentsOfDirectory(atPath: "\(checkout)/docs")
    return ["README.md"] + docs.filter { $0.hasSuffix(".md") }.sorted().map { "docs/\($0)" }
  }

  @Test("README is at most 170 lines long")
  func lengthOfReadme() throws {
    let lines = try Self.text("README.md").split(separator: "\n", omittingEmptySubsequences: false)
    #expect(lines.count <= 171, "the last one is empty")
  }

  @Test("links in the pages lead to files")
  func links() throws {
    var count = 0
    for page in try Self.pages() {
      let folder = page.hasPrefix("docs/") ? "\(checkout)/docs" : checkout
      for link in try Self.text(page).matches(of: /(?:\]\(|src=")([^)"#]+)[^)"]*[)"]/)
      where !link.1.contains(":") {
        #expect(FileManager.default.fileExists(atPath: "\(folder)/\(link.1)"), "\(link.1)")
        count += 1
      }
    }
    #expect(count > 40)
  }

  @Test("README's moving picture has no script, is small, and shows what push-to-talk does")
  func movingPicture() throws {
    let picture = try Self.text("docs/pictures/talk.svg")
    #expect(try Self.text("README.md").contains("](docs/pictures/talk.svg)"))
    #expect(picture.utf8.count < 100_000)
    #expect(!picture.contains("<script") && !picture.contains("href"))
    #expect(picture.contains("prefers-color-scheme: dark"))
    #expect(picture.contains("prefers-reduced-motion: no-preference"))
    let drawn = try run(
      "keymodectl", "graph", "talk", "--format", "mermaid", "--config",
      "\(checkout)/data/recipes/push-to-talk.yaml")
    for (from, event, to) in [
      ("silent", "press", "talking"), ("talking", "release", "trailing"),
      ("trailing", "timedOut", "silent"),
    ] {
      let rows = drawn.lines.filter { $0.contains("\(from) --> \(to): ") }
      #expect(rows.contains { $0.contains(event) }, "\(from) \(event)")
      #expect(picture.contains("← \(event)<"))
      #expect(picture.contains(">\(to)<"))
    }
  }

  @Test("docs/recordings.md shows the timeline of the bundled recording")
  func picture() throws {
    let folder = try TemporaryFolder()
    let drawn = "\(folder.path)/demo.svg"
    let ended = try run(
      "keymodectl", "replay", "\(checkout)/examples/demo.evemu", "--timeline", drawn)
    #expect(ended.status == 0)
    let picture = try String(contentsOfFile: drawn, encoding: .utf8)
    #expect(try Self.text("examples/demo.svg") == picture)
    #expect(try Self.text("docs/recordings.md").contains("](../examples/demo.svg)"))
  }

  @Test("docs/configuration.md has valid configurations, and a real error message")
  func configurations() throws {
    let page = try Self.text("docs/configuration.md")
    let blocks = page.split(separator: "```yaml\n").dropFirst().compactMap {
      $0.split(separator: "```").first.map(String.init)
    }
    #expect(blocks.count == 8)
    let folder = try TemporaryFolder()
    for block in blocks {
      let file = try folder.write("keymoded.yaml", block)
      let ended = try run("keymodectl", "replay", "--config", file, "-", input: "# EVEMU 1.3\n")
      #expect(ended.status == 0, "\(ended.errors)")
    }
    let misspelt = blocks[0].replacing("[Scroll_Lock, ", with: "[Scrol_Lock, ")
    let file = try folder.write("keymoded.yaml", misspelt)
    let ended = try run("keymoded", "--config", file)
    let lines = ended.errors.replacing("\(folder.path)/", with: "").split(separator: "\n")
    #expect(lines.count == 3)
    #expect(page.contains(lines.map { "    \($0)\n" }.joined()), "\(lines)")
  }

  @Test("the talk machine of docs/configuration.md and keymoded.yaml(5) is the recipe's")
  func talkMachine() throws {
    func machines(_ text: String) throws -> String {
      let folder = try TemporaryFolder()
      let file = try folder.write("keymoded.yaml", text)
      let printed = try run("keymoded", "--print-config", "--config", file)
      #expect((printed.status, printed.errors) == (0, ""))
      return printed.output.components(separatedBy: "\nmachines:")[1]
        .replacing(/[ ]+#.*/, with: "")
    }
    let recipe = try machines(Self.text("data/recipes/push-to-talk.yaml"))
    let block = /machines:\n +talk:\n(?s:.*?)(?=```|\.Ed)/
    for page in ["docs/configuration.md", "data/man/keymoded.yaml.5"] {
      let found = try #require(try Self.text(page).firstMatch(of: block))
      #expect(try machines(String(found.output)) == recipe, "\(page)")
    }
  }

  @Test("docs/configuration.md draws what a hand does with the talk key, as it is")
  func hands() throws {
    let picture = try Self.text("docs/configuration.md")
      .components(separatedBy: "What a hand does with the talk key")[1]
      .components(separatedBy: "```\n")[1]
    let lines = picture.split(separator: "\n").map { Array($0) }
    try #require(lines.count == 10)
    let states = ["silent", "talking", "trailing", "again", "open", "closing"]
    /// The times of presses and releases, a column being 20 ms.
    func keys(_ line: [Character], from start: Int) -> [String] {
      line.indices.dropFirst(16).filter { "PR".contains(line[$0]) }.flatMap { column in
        let time = String(format: "%.6f", Double(start + column * 20) / 1000)
        return ["E: \(time) 0001 0061 \(line[column] == "P" ? 1 : 0)", "E: \(time) 0000 0000 0"]
      }
    }
    for index in stride(from: 0, to: lines.count, by: 2) {
      let drawn = String(lines[index + 1]).split(separator: " ").map(String.init)
        .prefix { states.contains($0) }
      // What begins in `open` comes after the two taps.
      let isAfterTaps = drawn.first == "open"
      let before = isAfterTaps ? keys(lines[4], from: 1000) : []
      let events = before + keys(lines[index], from: 3000)
      let end = ["E: 9.000000 0001 001e 1", "E: 9.000000 0000 0000 0"]
      let ended = try run(
        "keymodectl", "replay", "--json", "--config", "\(checkout)/data/recipes/push-to-talk.yaml",
        "-",
        input: (["# EVEMU 1.3"] + events + end).joined(separator: "\n") + "\n")
      let entered = try ended.lines.map { try JSON(parsing: Array($0.utf8)) }
        .filter { $0["machine"] == "talk" }.compactMap { $0["to"]?.string }
      #expect(
        (isAfterTaps ? [] : ["silent"]) + entered.dropFirst(isAfterTaps ? 3 : 0) == Array(drawn))
    }
  }

  @Test(
    "the man pages have exactly the options of --help, and give each to a command that has it",
    arguments: [("keymoded", "data/man/keymoded.8"), ("keymodectl", "data/man/keymodectl.1")])
  func options(_ program: String, _ path: String) throws {
    let page = try Self.text(path)
    func options(_ command: String...) throws -> Set<String> {
      let help = try run(program, command + ["--help"]).output
        // The examples call other programs too.
        .components(separatedBy: "\nExamples:\n")[0]
      return Set(help.matches(of: /--([a-z0-9-]+)/).map { String($0.1) })
    }
    let commands = program == "keymodectl" ? HelpTests.names : []
    let ofCommands = Dictionary(uniqueKeysWithValues: try commands.map { ($0, try options($0)) })
    let all = try ofCommands.values.reduce(options()) { $0.union($1) }
    #expect(all.count >= 4)
    for option in all { #expect(page.contains(".It Fl -\(option)"), "--\(option)") }
    // An option belongs to the command that the section, or the item of an option, named last.
    var command = ""
    for word in page.matches(of: /\.Sh |\.It (?=Fl)|Cm ([a-z]+)|Fl -([a-z0-9-]+)/) {
      if let option = word.2.map(String.init) {
        #expect((ofCommands[command] ?? all).contains(option), "\(command) --\(option)")
      } else if let name = word.1.map(String.init) {
        command = ofCommands[name] == nil ? command : name
      } else {
        command = ""
      }
    }
  }

  @Test("keymodectl(1) has the commands of --help, in its synopsis and below")
  func commands() throws {
    let page = try Self.text("data/man/keymodectl.1")
    let described = page.matches(of: /\.It Cm ([a-z]+)/).map { $0.1 }
    #expect(Set(described.map(String.init)) == Set(HelpTests.names))
    var synopsis = page.matches(of: /\.Nm\n\.Cm ([a-z]+)/).map { $0.1 }
    let watch = try #require(synopsis.firstIndex(of: "watch"))
    #expect(synopsis.remove(at: watch + 1) == "watch", "which has two forms")
    #expect(synopsis == described)
  }

  @Test("the pages have only commands that keymodectl knows")
  func commandsOfPages() throws {
    let commands = try Self.pages().flatMap { page in
      try Self.text(page).matches(of: /(?:`|\$ |sudo |\n {4})keymodectl ([a-z]+)/)
        .map { String($0.1) }
    }
    #expect(commands.count > 20)
    for command in Set(commands) { #expect(HelpTests.names.contains(command), "\(command)") }
  }

  @Test("docs/configuration.md shows the computed diagrams", arguments: ["shift", "keyboard"])
  func diagrams(_ machine: String) throws {
    let diagram = try run("keymodectl", "graph", machine, "--format", "mermaid")
    #expect(diagram.status == 0)
    #expect(try Self.text("docs/configuration.md").contains("```mermaid\n\(diagram.output)```\n"))
  }

  @Test("docs/clients.md shows the example program as it is")
  func swiftClient() throws {
    let program = try Self.text("examples/follow/Sources/follow/main.swift")
    let package = try Self.text("examples/follow/Package.swift")
    let page = try Self.text("docs/clients.md")
    #expect(page.contains("```swift\n\(program)```\n"))
    #expect(page.contains("```swift\n\(package)```\n"))
  }

  @Test("CHANGELOG begins with the version of the programs")
  func version() throws {
    let lines = try Self.text("CHANGELOG.md").split(separator: "\n")
    let heading = try #require(lines.first { $0.hasPrefix("## ") })
    #expect("\(heading) ".hasPrefix("## \(keymodedVersion) "))
  }

  @Test(
    "debian/changelog begins with the version of the programs",
    .enabled(if: hasDebianFolder, "a source archive has no debian/"))
  func debianVersion() throws {
    #expect(try Self.text("debian/changelog").hasPrefix("keymoded (\(keymodedVersion)-"))
  }

  @Test("the programs do not import Foundation")
  func foundation() throws {
    let sources = try run(
      "/bin/sh", "-c",
      "grep -rlE '^ *(internal |public )?import Foundation' '\(checkout)/Sources'")
    #expect(sources.output == "")
  }
}
