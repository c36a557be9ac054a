import KeyboardModes
import Recordings
import Replay
import TestSupport
import Testing

private func change(_ number: Int64, to: String = "on") -> Change {
  Change(
    sequence: number, time: Time(microseconds: number * 10), machine: .shift, from: "off", to: to,
    event: "shiftPressed")
}

private func line(_ number: Int64) -> String {
  #"{"sequence":\#(number),"time":\#(number * 10),"machine":"shift","from":"off","to":"on","#
    + #""event":"shiftPressed"}"# + "\n"
}

private func states(_ number: Int64) -> String {
  #"{"instance":"i","sequence":\#(number),"time":1,"shift":"off","shiftSince":null,"#
    + #""keyboard":"x","keyboardSince":null}"# + "\n"
}

@Suite("Replay: expected changes")
struct ExpectedChangesTests {
  private let folder: TemporaryFolder
  init() throws { folder = try TemporaryFolder() }

  private func expected(_ text: String) throws -> ExpectedChanges {
    try ExpectedChanges(try folder.write("expected", text))
  }

  @Test("equal changes make no difference")
  func equal() throws {
    let expected = try expected(line(1) + line(2) + "{\"stats\":{}}\n")
    #expect(try expected.compare(change(1)) == nil)
    #expect(try expected.compare(change(2)) == nil)
    #expect(try expected.compare(nil) == nil)
    #expect(expected.count == 2 && !expected.isDifferent)
  }

  @Test("only the first difference is returned, with its line and both changes")
  func first() throws {
    let expected = try expected(line(1) + line(2) + line(3))
    #expect(try expected.compare(change(1)) == nil)
    let difference = try #require(try expected.compare(change(2, to: "off")))
    #expect(difference.place == "\(folder.path)/expected:2")
    #expect(difference.expected == change(2))
    #expect(difference.replayed == change(2, to: "off"))
    #expect(try expected.compare(change(3, to: "off")) == nil)
    #expect(try expected.compare(nil) == nil)
    #expect(expected.count == 1 && expected.isDifferent)
  }

  @Test("a change after the end of the file is a difference")
  func tooMany() throws {
    let expected = try expected(line(1))
    #expect(try expected.compare(change(1)) == nil)
    let difference = try #require(try expected.compare(change(2)))
    #expect(difference.place == "after \(folder.path)/expected:1")
    #expect(difference.expected == nil)
    #expect(difference.replayed == change(2))
    #expect(expected.isDifferent)
  }

  @Test("a change that the replay lacks is a difference")
  func tooFew() throws {
    let expected = try expected(line(1) + line(2))
    #expect(try expected.compare(change(1)) == nil)
    let difference = try #require(try expected.compare(nil))
    #expect(difference.place == "\(folder.path)/expected:2")
    #expect(difference.expected == change(2))
    #expect(difference.replayed == nil)
    #expect(expected.isDifferent)
  }

  @Test("after a first line with states, as `watch` prints it, numbers begin anywhere")
  func base() throws {
    let expected = try expected(states(40) + line(1).replacing(":1,", with: ":41,"))
    #expect(try expected.compare(change(1)) == nil)
    #expect(try expected.compare(nil) == nil)
  }

  @Test(
    "a line that is not a change is an error with its number",
    arguments: [
      ("x\n", 1), (line(1) + "[1]\n", 2), (line(1) + states(0), 2),
      (String(repeating: "x", count: 9000), 1), ("{\"missed\":3}\n", 1), ("\n", 1),
    ])
  func faults(_ text: String, _ number: Int) throws {
    let expected = try expected(text)
    var error: RecordingError?
    do throws(RecordingError) {
      for _ in 0..<3 { _ = try expected.compare(change(1)) }
    } catch let fault {
      error = fault
    }
    #expect(error?.line == number)
    #expect(error?.file == "\(folder.path)/expected")
  }

  @Test("a file that cannot be opened is an error")
  func missing() {
    #expect(throws: RecordingError("No such file or directory", file: "/nowhere")) {
      _ = try ExpectedChanges("/nowhere")
    }
  }
}
