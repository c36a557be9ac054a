import KeyboardModes
import Session
import System
import Terminal

/// `keymodectl shift`: runs a virtual keyboard that follows the states of Shift, until a signal
/// ends it.
func shift(_ invocation: Invocation) throws -> Int32 {
  let arguments = invocation.arguments
  let (hasCapsLock, isOneShot) = (arguments.has("--caps-lock"), arguments.has("--one-shot"))
  guard hasCapsLock || isOneShot else {
    throw UsageError("shift takes --caps-lock, --one-shot or both")
  }
  let maxHold = try arguments["--at-most"].map(microseconds) ?? 3_000_000
  guard isOneShot || arguments["--at-most"] == nil else {
    throw UsageError("option '--at-most' works only with --one-shot")
  }
  // Desktops turn on Slow Keys when Shift is held for eight seconds.
  guard (1...5_000_000).contains(maxHold) else {
    throw UsageError("'--at-most' takes a time of up to 5s")
  }
  let memory = try CapsLockMemory(in: environment("RUNTIME_DIRECTORY") ?? "/run/keymoded-shift")
  let keyboard = try VirtualKeyboard(
    bus: VirtualShift.bus, vendor: VirtualShift.vendor, product: VirtualShift.product,
    name: VirtualShift.name)
  let command = try ShiftCommand(
    on: keyboard, hasCapsLock: hasCapsLock, oneShot: isOneShot ? .microseconds(maxHold) : nil,
    of: invocation.daemon.directory, memory: memory, report: { printToStandardError($0) })
  let signal = try command.serve(anySession: invocation.anySession, explain: explained)
  Signals.applyDefaultAction(of: signal)
  return 128 + signal
}
