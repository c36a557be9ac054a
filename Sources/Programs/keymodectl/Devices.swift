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
    switch try invocation.daemon.ask(.statistics).unopened {
    case nil: printToStandardError("keymoded follows no device, because it plays a recording")
    case 0:
      printToStandardError(
        "keymoded follows no device: none is there, or its configuration excludes it")
    case let count?:
      printToStandardError(
        "keymoded follows no device: it cannot open \(count) that it should follow; its log says why"
      )
    }
  }
  return ExitStatus.done
}
