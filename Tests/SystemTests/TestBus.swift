import Foundation
import System
import TestSupport

@testable import System

/// The reference implementation of the bus, which a test starts and ends.
final class TestBus {
  static let name = "org.freedesktop.DBus"
  private let folder: TemporaryFolder
  private let process = Process()

  init() throws {
    folder = try TemporaryFolder()
    let settings = try folder.write(
      "bus.conf",
      """
      <busconfig>
        <listen>unix:path=\(folder.path)/bus</listen>
        <policy context="default">
          <allow send_destination="*"/>
          <allow receive_type="method_return"/>
          <allow receive_type="error"/>
          <allow receive_type="signal"/>
          <allow own="*"/>
        </policy>
      </busconfig>
      """)
    process.executableURL = URL(fileURLWithPath: "/usr/bin/dbus-daemon")
    process.arguments = ["--config-file=\(settings)", "--nofork", "--print-address=1"]
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    // It prints the address once it listens.
    guard !output.fileHandleForReading.availableData.isEmpty else {
      throw TimedOut(waitingFor: "a bus")
    }
  }

  deinit { end() }

  func send(_ signal: Int32) { kill(process.processIdentifier, signal) }

  func end() {
    send(SIGKILL)
    process.waitUntilExit()
  }

  func connect(_ loop: EventLoop) throws -> Bus {
    try Bus(.at("unix:path=\(folder.path)/bus"), on: loop)
  }

  static func call(_ member: String, _ arguments: BusValue...) -> BusCall {
    var call = BusCall(to: name, path: "/org/freedesktop/DBus", interface: name, member: member)
    call.arguments = arguments
    return call
  }
}
