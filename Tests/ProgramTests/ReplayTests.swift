import Foundation
import JSON
import TestSupport
import Testing

/// A minute of a chat, as a person would type it.
private let chat = """
  # EVEMU 1.3
  N: a keyboard
  I: 0003 046d c31c 0110
  E: 0.000001 0004 0004 458977
  E: 0.000001 0001 002a 0001
  E: 0.000001 0000 0000 0000
  E: 0.080001 0001 002a 0000
  E: 0.080001 0000 0000 0000
  E: 0.300001 0001 002a 0001
  E: 0.300001 0000 0000 0000
  E: 0.380001 0001 002a 0000
  E: 0.900001 0001 0046 0001
  E: 0.950001 0001 0046 0000
  E: 1.100001 0001 007f 0001
  E: 1.150001 0001 007f 0000
  E: 1.200001 0001 006e 0001
  E: 1.250001 0001 006e 0000
  E: 1.300001 0001 0001 0001
  E: 1.350001 0001 0001 0000
  E: 1.900001 0001 002a 0001
  E: 1.950001 0001 002a 0000
  E: 2.000001 0001 002a 0001
  E: 2.050001 0001 002a 0000
  E: 2.100001 0001 001e 0001
  E: 2.150001 0001 001e 0000

  """

@Suite("keymodectl replay")
struct ReplayTests {
  private static let expected = """
    {"sequence":1,"time":1,"machine":"shift","from":"off","to":"on","event":"shiftPressed"}
    {"sequence":2,"time":300001,"machine":"shift","from":"on","to":"capsLock","event":"shiftPressed"}
    {"sequence":3,"time":900001,"machine":"keyboard","from":"prepareToEditText","to":"prepareToRecord","event":"clickSwitchButton"}
    {"sequence":4,"time":1100001,"machine":"keyboard","from":"prepareToRecord","to":"showingPanel","event":"clickMoreButton"}
    {"sequence":5,"time":1200001,"machine":"keyboard","from":"showingPanel","to":"editingText","event":"tapTextField"}
    {"sequence":6,"time":1300001,"machine":"keyboard","from":"editingText","to":"prepareToEditText","event":"tapBlankArea"}
    {"sequence":7,"time":1900001,"machine":"shift","from":"capsLock","to":"off","event":"shiftPressed"}
    {"sequence":8,"time":2000001,"machine":"shift","from":"off","to":"on","event":"shiftPressed"}
    {"sequence":9,"time":2100001,"machine":"shift","from":"on","to":"off","event":"characterTyped"}

    """

  @Test("prints a JSON line a change, exactly")
  func json() throws {
    let folder = try TemporaryFolder()
    let file = try folder.write("chat.evemu", chat)
    let ended = try run("keymodectl", "replay", "--json", file)
    #expect(ended.status == 0)
    #expect(ended.errors == "")
    #expect(ended.output == Self.expected)
    #expect(try run("keymodectl", "--json", "replay", "-", input: chat).output == Self.expected)
  }

  @Test("prints a line of at most 80 columns a change for people")
  func human() throws {
    let ended = try run("keymodectl", "replay", "-", input: chat)
    #expect(ended.status == 0)
    #expect(
      ended.lines.first
        == "     0.000001  shift     off → on                             shiftPressed")
    #expect(ended.lines.count == 9)
    #expect(ended.lines.allSatisfy { $0.count <= 80 })
    let dated = chat.replacing("E: ", with: "E: 133005018")
    let old = try run("keymodectl", "replay", "-", input: dated)
    #expect(old.lines == ended.lines, "of dates only the seconds since the first event are shown")
  }

  @Test(
    "is what the daemon publishes of the same recording, at any speed", arguments: ["max", "10"])
  func likeLive(_ speed: String) throws {
    let daemon = try RunningDaemon(recording: chat, speed: speed)
    let client = try daemon.client()
    let state = try #require(try client.result("org.keymoded.Controller.GetState")["state"])
    try client.call(
      "org.keymoded.Controller.Monitor", ["after": 0, "instance": state["instance"] ?? nil],
      more: true)
    var lines = ""
    while lines.split(separator: "\n").count < 9 {
      for change in try client.reply()["parameters"]?["changes"]?.array ?? [] {
        lines += change.text + "\n"
      }
    }
    #expect(lines == Self.expected)
    let after = try daemon.client().result("org.keymoded.Controller.GetState")["state"]
    #expect(after?["sequence"] == 9)
    #expect(try #require(after?["time"]?.integer) >= 2_100_001, "the recorded time goes on")
  }

  @Test("uses the settings that it is given")
  func settings() throws {
    let folder = try TemporaryFolder()
    let file = try folder.write(
      "k.yaml", "shift: { threshold: 200ms }\nkeyboard: { bindings: { clickSwitchButton: [] } }\n")
    let ended = try run("keymodectl", "replay", "--json", "--config", file, "-", input: chat)
    #expect(ended.status == 0)
    #expect(ended.lines.count == 7)
    #expect(ended.lines[1].contains(#""from":"on","to":"off""#))
  }

  @Test("says where a bad line is, after the changes before it")
  func badLine() throws {
    let folder = try TemporaryFolder()
    let file = try folder.write("typing.evemu", chat + "E: 3.000000 0001 01zz 0001\n")
    let ended = try run("keymodectl", "replay", "--json", file)
    #expect(ended.status == 4)
    #expect(
      ended.errors
        == "\(file):26: event code \"01zz\" is not hexadecimal of up to four digits\n")
    #expect(ended.output == Self.expected)
    let torn = try run("keymodectl", "replay", "--json", "-", input: chat + "E: 3.0000")
    #expect(torn.status == 4)
    #expect(torn.errors.hasPrefix("<stdin>:26: the recording is cut off here: "))
    #expect(torn.output == Self.expected)
  }

  @Test("refuses what is no recording", arguments: ["/", "/dev/zero", "/nowhere", "/dev/null"])
  func noRecording(_ path: String) throws {
    let ended = try run("keymodectl", "replay", path)
    #expect(ended.status == 4)
    #expect(ended.errors.hasPrefix("\(path):"))
    let daemon = try run("keymoded", "--recording", path)
    #expect(daemon.status == 4)
    #expect(daemon.errors.hasPrefix("\(path):"))
  }

  @Test("ends quietly when nobody reads")
  func closedPipe() throws {
    let folder = try TemporaryFolder()
    var text = chat
    for second in 3..<30_000 { text += "E: \(second).000000 0001 002a 0001\n" }
    let file = try folder.write("long.evemu", text)
    let ended = try run(
      "/bin/sh", "-c", "'\(Place.programs)/keymodectl' replay '\(file)' | head -n 1")
    #expect(ended.lines.count == 1)
    #expect(ended.errors == "")
  }
}
