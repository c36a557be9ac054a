import KeymodeClient
import Terminal
import Wire

/// `keymodectl devices`: prints the devices that the daemon follows.
func devices(_ invocation: Invocation) throws -> Int32 {
  let list = try invocation.daemon.ask(.devices)
  let (devices, asJSON) = (list.devices, invocation.asJSON)
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
  if devices.isEmpty, !asJSON {
    let reason = list.absence.map { ": \($0.reason)" as TerminalText } ?? ""
    complain("keymoded follows no device\(reason)")
  }
  return ExitStatus.done
}

extension DeviceAbsence {
  /// What it means, and what can be done.
  fileprivate var reason: TerminalText {
    switch self {
    case .noKeyboard: "it has found no keyboard"
    case .forbidden:
      "it may not read them;\nonly root and members of the group 'input' may read keyboards"
    case .ignored: "the configuration or udev's rules exclude all keyboards"
    case .recording: "it plays a recording"
    }
  }
}
