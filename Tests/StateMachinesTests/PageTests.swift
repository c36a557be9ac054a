import Foundation
import StateMachineTesting
import StateMachines
import TestSupport
import Testing

/// A block of code on a page of Markdown.
private struct Block {
  let language: String
  let text: String
  /// The text up to the next block.
  let after: String

  /// What the page says that the block prints: the first indented lines after it, if it says so.
  var output: String? {
    guard after.hasPrefix("It prints\n") else { return nil }
    return after.split(separator: "\n", omittingEmptySubsequences: false).dropFirst(2)
      .prefix { $0.hasPrefix("    ") }.map { $0.dropFirst(4) + "\n" }.joined()
  }
}

@Suite("docs/state-machines.md")
struct PageTests {
  private let page: String
  private let blocks: [Block]

  init() throws {
    page = try String(contentsOfFile: "\(checkout)/docs/state-machines.md", encoding: .utf8)
    let parts = page.components(separatedBy: "```")
    blocks = stride(from: 1, to: parts.count, by: 2).map { index in
      let lines = parts[index].split(separator: "\n", maxSplits: 1).map(String.init)
      return Block(
        language: lines[0], text: lines.count > 1 ? lines[1] : "",
        after: parts[index + 1].trimmingCharacters(in: .newlines))
    }
  }

  private var programs: [Block] {
    blocks.filter { $0.language == "swift" && $0.text.hasPrefix("import ") }
  }

  @Test("every program compiles, and prints what the page says")
  func programsRun() throws {
    let modules = try CompiledModules(["StateMachines", "ObservedMachines"])
    #expect(programs.count == 5)
    for (index, program) in programs.enumerated() {
      let compiled = try modules.compile(program.text, to: "program-\(index)")
      #expect(compiled.status == 0, "\(compiled.errors)")
      let ended = try run("\(modules.folder.path)/program-\(index)", [])
      #expect(ended.output == program.output)
      #expect(ended.status == 0 && ended.errors == "")
    }
  }

  @Test("every other block of Swift is in the examples, as it is, or is a manifest")
  func quotations() throws {
    let folder = "\(checkout)/Tests/StateMachinesTests/Examples"
    let examples = try FileManager.default.contentsOfDirectory(atPath: folder).map { file in
      try String(contentsOfFile: "\(folder)/\(file)", encoding: .utf8)
    }
    let others = blocks.filter { $0.language == "swift" && !$0.text.hasPrefix("import ") }
    let quotations = others.filter { !$0.text.hasPrefix("// swift-tools-version") }
    #expect(quotations.count > 6 && quotations.count == others.count - 1)
    for block in quotations {
      #expect(examples.contains { $0.contains("\n" + block.text) }, "\(block.text)")
    }
    let turnstile = examples.compactMap { $0.firstMatch(of: /\/\/\/ The textbook(?s:.*?)\n}\n/) }
    #expect(turnstile.count == 1)
    for match in turnstile { #expect(programs.first?.text.contains(match.output) == true) }
  }

  @Test("the diagrams are those of the examples")
  func diagrams() {
    #expect(
      blocks.filter { $0.language == "mermaid" }.map(\.text)
        == [Diagram(of: Turnstile()).mermaid, Diagram(of: NewsList()).mermaid])
  }

  @Test("the table of faults has the message of every fault")
  func faults() {
    let arrow = Diagram.Arrow(from: "a", to: "b", event: "go")
    let faults: [RulesFault] = [
      .unlistedState("b"), .unreachableState("b"), .deadState("b"), .leftFinalState("b"),
      .ambiguousArrow(arrow),
      .undrawnStep(from: "a", to: "b", afterEvents: ["go", "stop"]), .untakenArrow(arrow),
    ]
    let messages = page.matches(of: /\n\| (?:soundness|walks|paths) \| `(.*)` \|/)
    #expect(messages.map { String($0.1) } == faults.map(\.description))
  }

  @Test("links lead to files and headings that exist")
  func links() {
    let files = page.matches(of: /\]\((\.\.\/[^)]*|[a-z-]*\.md)\)/).map { $0.1 }
    #expect(files.count > 1)
    for file in files {
      #expect(FileManager.default.fileExists(atPath: "\(checkout)/docs/\(file)"), "\(file)")
    }
    let anchors = page.matches(of: /\n## (.*)/).map {
      $0.1.lowercased().replacing(" ", with: "-").replacing(",", with: "")
    }
    let links = page.matches(of: /\]\(#([^)]*)\)/).map { String($0.1) }
    #expect(!links.isEmpty && Set(links).isSubset(of: anchors))
  }
}
