import CommandLineTools
import KeymodeClient
import SystemCalls

/// `keymodectl devices`: prints the devices that the daemon follows.
func devices(_ operands: [String], _ daemon: DaemonAddress, asJSON: Bool) throws -> Int32 {
  guard operands.isEmpty else { throw UsageError("devices takes no operand") }
  let devices = try daemon.connect().devices()
  var output = Output()
  if asJSON {
    for device in devices { output.line(json: device) }
  } else {
    let rows = devices.map { device in
      let kind = device.isKeyboard ? "keyboard" : device.isPointer ? "pointer" : "keys"
      return [device.node, "\(device.vendor):\(device.product)", kind, device.name]
    }
    for line in Table.lines(rows) { output.line(line) }
  }
  output.flush()
  return 0
}
