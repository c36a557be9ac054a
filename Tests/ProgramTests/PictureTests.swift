import Foundation
import TestSupport
import Testing

@Suite("keymodectl graph --format svg")
struct PictureTests {
  @Test("graph draws a picture with Graphviz, and says what to install without it")
  func picture() throws {
    let drawn = try run("keymodectl", "graph", "keyboard", "--format", "svg")
    #expect((drawn.status, drawn.errors) == (0, ""))
    #expect(drawn.output.contains("<svg ") && drawn.output.contains("prepareToEditText"))
    let dot = try run("keymodectl", "graph", "keyboard").output
    let graphviz = try run("/usr/bin/dot", ["-Tsvg"], input: dot).output
    let added = try #require(
      drawn.output.firstMatch(of: /<title>.*<\/style>\n/.dotMatchesNewlines()))
    #expect(
      drawn.output.replacing(added.output, with: "").replacing(#"role="img" "#, with: "")
        == graphviz)
    #expect(added.output.hasPrefix("<title>The states of keyboard</title>\n<desc>It begins in "))
    #expect(added.output.contains("@media (prefers-color-scheme: dark) {"))
    let folder = try TemporaryFolder()
    let missing = try run(
      "keymodectl", "graph", "keyboard", "--format", "svg", environment: ["PATH": folder.path])
    #expect((missing.status, missing.output) == (1, ""))
    let hint =
      FileManager.default.fileExists(atPath: "/usr/bin/apt")
      ? "'sudo apt install graphviz' installs it" : "install Graphviz"
    #expect(
      missing.errors
        == "keymodectl: --format svg needs the program 'dot' of Graphviz;\n\(hint)\n")
  }

  @Test("graph draws a picture where SIGCHLD was ignored at the start")
  func ignoredChildren() throws {
    let drawn = try run(
      "/usr/bin/env", "--ignore-signal=CHLD", "\(Place.programs)/keymodectl", "graph", "keyboard",
      "--format", "svg")
    #expect((drawn.status, drawn.errors) == (0, ""))
    #expect(drawn.output.contains("<svg "))
  }
}
