import Foundation
import TestSupport
import Testing

@Suite("keymodectl devices without devices")
struct AbsentDevicesTests {
  @Test(
    "devices says why there are none",
    arguments: [
      (#","absence":"noKeyboard""#, ": it has found no keyboard"),
      (
        #","absence":"forbidden""#,
        ": it may not read them;\nonly root and members of the group 'input' may read keyboards"
      ),
      (#","absence":"ignored""#, ": the configuration or udev's rules exclude all keyboards"),
      (#","absence":null"#, ""), (#","absence":"of another kind""#, ""), ("", ""),
    ])
  func absence(_ member: String, _ reason: String) throws {
    let folder = try TemporaryFolder()
    let answers = ["ListDevices": [#"{"parameters":{"devices":[]\#(member)}}"#]]
    let daemon = try ScriptedDaemon(in: folder.path, answers)
    let ended = try keymodectl("devices", in: folder.path)
    withExtendedLifetime(daemon) {}
    #expect((ended.status, ended.output) == (0, ""))
    #expect(ended.errors == "keymodectl: keymoded follows no device\(reason)\n")
  }

  @Test("the daemon knows that it may not read a device, and that there is none")
  func absenceOfDevices() throws {
    let folder = try TemporaryFolder()
    #expect(chmod(try folder.write("device", ""), 0) == 0)
    let less = withoutRightsOfRoot.joined(separator: " ")
    for (path, reason) in [
      ("device", "it may not read them;"), ("none", "it has found no keyboard"),
    ] {
      let ended = try run(
        "/bin/sh", "-c",
        """
        cd '\(folder.path)'; PATH='\(Place.programs)':$PATH
        echo > empty.yaml
        \(less) keymoded --config empty.yaml --device \(path) --socket-dir . >log 2>&1 & daemon=$!
        keymodectl wait shift=off --socket-dir . 2>waited && keymodectl devices --socket-dir .
        kill $daemon; wait $daemon
        """)
      #expect(ended.errors.hasPrefix("keymodectl: keymoded follows no device: \(reason)"))
    }
  }
}
