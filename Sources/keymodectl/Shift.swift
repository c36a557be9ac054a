import Acting
import KeyboardModes
import Linux
import Terminal

/// `keymodectl shift`: a virtual keyboard that types what the states of Shift say, until a signal
/// ends it.
func shift(_ invocation: Invocation) throws -> Int32 {
  let arguments = invocation.arguments
  let (hasCapsLock, isOneShot) = (arguments.has("--caps-lock"), arguments.has("--one-shot"))
  guard hasCapsLock || isOneShot else {
    throw UsageError("shift takes --caps-lock, --one-shot or both")
  }
  let atMost = try arguments["--at-most"].map(microseconds) ?? 3_000_000
  guard isOneShot || arguments["--at-most"] == nil else {
    throw UsageError("option '--at-most' works only with --one-shot")
  }
  // After eight seconds desktops turn on Slow Keys.
  guard (1...5_000_000).contains(atMost) else {
    throw UsageError("'--at-most' takes a time of up to 5s")
  }
  let isDry = arguments.has("--dry-run")
  let folder = environment("RUNTIME_DIRECTORY") ?? (isDry ? nil : "/run/keymoded-shift")
  let command = try ShiftCommand(
    hasCapsLock: hasCapsLock, oneShot: isOneShot ? .microseconds(atMost) : nil,
    of: invocation.daemon.directory, memory: folder.map(ShiftMemory.init(in:)),
    perform: try isDry ? printed : typed(), tell: { complain($0) })
  let signal = try command.serve(anySession: invocation.anySession, explain: explained)
  Signals.deliver(signal)
  return 128 + signal
}

/// Prints what it would do.
private func printed(_ action: ShiftTyping.Action) {
  switch action {
  case .press: Output.print("Shift is down")
  case .release: Output.print("Shift is up")
  case .tapCapsLock: Output.print("Caps Lock is tapped")
  case .giveUpCapsLock: tellOfNoCapsLock()
  }
}

/// Does it with a virtual keyboard.
private func typed() throws(SystemError) -> (ShiftTyping.Action) throws -> Void {
  let keyboard = try VirtualKeyboard(
    bus: VirtualShift.bus, vendor: VirtualShift.vendor, product: VirtualShift.product,
    name: VirtualShift.name)
  return { action in
    switch action {
    case .press: try keyboard.setShift(isDown: true)
    case .release: try keyboard.setShift(isDown: false)
    case .tapCapsLock: try keyboard.tapCapsLock()
    case .giveUpCapsLock: tellOfNoCapsLock()
    }
  }
}

private func tellOfNoCapsLock() {
  complain(
    "Caps Lock does not answer its key: this keyboard layout has none there; "
      + "it is left alone until the next start")
}
