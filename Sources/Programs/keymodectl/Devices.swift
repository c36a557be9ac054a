import KeymodeClient
import Terminal
import Wire

/// `keymodectl devices`: prints the devices that the daemon follows.
func devices(_ invocation: Invocation) throws -> Int32 {
  let (devices, asJSON) = (try invocation.daemon.ask(.devices), invocation.asJSON)
  var output = Output()
  if asJSON {
    for device in devices { try output.line(json: device) }
  } else {
    let rows = devices.map { device in
      let kind = device.isKeyboard ? "keyboard" : device.isPointer ? "pointer" : "keys"
      return [device.node, "\(device.vendor):\(device.product)", kind, device.name]
    }
    for line in Table.lines(rows) { try output.line(line) }
  }
  try output.flush()
  if devices.isEmpty, !asJSON {
    complain(
      """
      keymoded follows no device; keyboards are missing here if keymoded is not in the group 'input',
      if its configuration excludes them, or while it plays a recording
      """)
  }
  return ExitStatus.done
}
