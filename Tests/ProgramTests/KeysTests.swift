import Foundation
import TestSupport
import Testing

/// `keymodectl keys` without keyboards; Tests/VirtualMachine has some.
@Suite("keymodectl keys")
struct KeysTests {
  private static let isWithoutDevices = !FileManager.default.fileExists(atPath: "/dev/input")

  @Test(
    "without a keyboard it says so",
    .enabled(if: isWithoutDevices))
  func noKeyboard() throws {
    let ended = try run("keymodectl", "keys")
    #expect((ended.status, ended.output) == (1, ""))
    #expect(ended.errors == "keymodectl: no keyboard was found\n")
  }

  @Test("it needs a device that it can read, and exits with 5 where that is forbidden")
  func devices() throws {
    for command in ["keys", "record"] {
      let ended = try run("keymodectl", command, "/dev/null")
      #expect((ended.status, ended.output) == (1, ""))
      #expect(ended.errors == "keymodectl: cannot follow '/dev/null': not an input device\n")
    }
    let folder = try TemporaryFolder()
    let file = try folder.write("device", "")
    #expect(chmod(file, 0) == 0)
    let command = withoutRightsOfRoot + ["\(Place.programs)/keymodectl", "keys", file]
    let refused = try run(command[0], Array(command[1...]))
    #expect((refused.status, refused.output) == (5, ""))
    #expect(
      refused.errors == """
        keymodectl: cannot open '\(file)': Permission denied:
        only root and members of the group 'input' may read keyboards

        """)
  }

  @Test(
    "a bad configuration is refused before a device or a recording is opened",
    arguments: ["keys", "replay"])
  func configuration(_ command: String) throws {
    let folder = try TemporaryFolder()
    let file = try folder.write("bad.yaml", "shift: 1\n")
    let ended = try run("keymodectl", command, "--config", file, "/nowhere")
    #expect(ended.status == 4)
    #expect(ended.errors.hasPrefix("\(file):1:8: shift must be a mapping"))
  }

  @Test("after an error the terminal shows again what is typed")
  func terminal() throws {
    let screen = try TerminalScreen()
    try screen.type("keymodectl keys /dev/null; stty -a | grep -o -e ' -\\?echo ' -e ' -\\?icanon'")
    try screen.wait("the settings") {
      $0.contains("not an input device") && $0.contains("\n icanon") && $0.contains("\n echo")
    }
  }
}
