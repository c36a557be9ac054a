import Configuration
import Glibc
import KeyboardModes
import Keyboards
import KeymodeClient
import Session
import System
import Terminal
import Wire

/// `keymodectl doctor`: says what works, and what does not, with the command that mends it.
func doctor(_ invocation: Invocation) throws -> Int32 {
  let doctor = Doctor(invocation)
  let checks = [
    ("daemon", doctor.daemon), ("configuration", doctor.configured), ("right", doctor.permission),
    ("session", doctor.session), ("keyboards", doctor.keyboards), ("a key", doctor.key),
    ("talk key", doctor.talkKey), ("PipeWire", doctor.pipeWire), ("microphone", doctor.microphone),
  ]
  var status = ExitStatus.done
  for (name, check) in checks {
    let (isRight, text) = try check()
    let sign = isRight.map { $0 ? "ok" : "no" } ?? "-"
    let lines = text.description.split(separator: "\n").joined(separator: "\n\(padded("", 19))")
    try Output.print("\(padded(sign, 4))\(padded(name, 15))\(TerminalText(verbatim: lines))")
    if isRight == false { status = ExitStatus.failed }
  }
  return status
}

/// Has a function for each thing that `keymodectl doctor` looks at.
private struct Doctor {
  /// Whether a thing is right, `nil` if that is unknown. If it is wrong, the text says what helps.
  typealias Finding = (isRight: Bool?, text: TerminalText)

  private let address: DaemonAddress
  private let isService: Bool
  private let configuration: Result<Configuration, ConfigurationErrors>
  private let states: Result<StateMessage, ClientError>
  /// The service's status text: its keyboards, then `;` and a warning; empty for other daemons.
  private let status: String

  init(_ invocation: Invocation) {
    address = invocation.daemon
    states = Result { [address] () throws(ClientError) in try address.ask(.state) }
    configuration = Result { () throws(ConfigurationErrors) in
      try Configuration.load(invocation.arguments["--config"])
    }
    isService = address.directory == SocketDirectory.system
    status = isService ? property("StatusText", of: "keymoded.service") : ""
  }

  func daemon() -> Finding {
    switch states {
    case .success, .failure(.permissionDenied): return (true, "serves in \(address.directory)")
    case .failure where isService && property("ActiveState", of: "keymoded.service") == "failed":
      return (
        false, "failed; 'journalctl -u keymoded' says why:\n'sudo systemctl restart keymoded'"
      )
    case .failure(let error): return (false, explained(error))
    }
  }

  func configured() -> Finding {
    let apply: TerminalText = "'sudo systemctl reload keymoded' applies it"
    switch configuration {
    case .failure(let errors): return (false, "\(errors)\nmend this; \(apply)")
    case .success where status.contains(";"):
      return (false, "it is valid now, but not what the service uses:\n\(apply)")
    case .success: return (true, "valid")
    }
  }

  func permission() -> Finding {
    guard case .failure(let error) = states else { return (true, "you may read the states") }
    if case .permissionDenied = error { return (false, explained(error)) }
    return (nil, "not known")
  }

  func session() throws -> Finding {
    let mainLoop = try MainLoop<SessionPresence>()
    let session = try LoginSession(on: mainLoop.loop) { mainLoop.end($0) }
    let expiry = try mainLoop.loop.call(after: .seconds(5)) { mainLoop.end(.absent(.noAnswer)) }
    switch try mainLoop.runUntilEnd(keeping: session, expiry) {
    case .inFront: return (true, "in front, and not locked")
    case .absent(.locked): return (false, "locked:\n'loginctl unlock-session' unlocks it")
    case .absent(.noAnswer): return (false, "not known:\n'sudo systemctl restart systemd-logind'")
    case .absent(let reason):
      return (false, "\(reason):\nlog in at this machine, or use 'keymodectl while --any-session'")
    }
  }

  func keyboards() -> Finding {
    let count = (try? address.ask(.devices))?.count(where: \.isKeyboard)
    let text = count.map { "keyboards followed: \($0)" } ?? status.prefix { $0 != ";" }.description
    if text.hasSuffix(" 0") {
      return (false, "none is followed:\n'sudo keymodectl devices' says why")
    }
    return text.isEmpty ? (nil, "'sudo keymodectl devices' shows them") : (true, "\(text)")
  }

  /// Asks for a press of Shift, and says whether a change has arrived. The finding names no key.
  func key() throws -> Finding {
    let canAsk = isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1
    guard canAsk, case .success = states else { return (nil, "can be asked for on a terminal") }
    let mainLoop = try MainLoop<Bool>()
    var hasAsked = false
    let changes = try mainLoop.loop.follow(address.directory) { update in
      mainLoop.perform {
        let update = try update.get()
        if case .change = update { mainLoop.end(true) }
        // The daemon would not report a press before the first states.
        guard case .states = update, !hasAsked else { return }
        hasAsked = true
        printToStandardError("press Shift, and release it, within 10 seconds")
      }
    }
    let expiry = try mainLoop.loop.call(after: .seconds(10)) { mainLoop.end(false) }
    return try mainLoop.runUntilEnd(keeping: changes, expiry)
      ? (true, "it has arrived")
      : (false, "none has arrived:\n'sudo keymodectl keys' shows which keyboards can be read")
  }

  func talkKey() -> Finding {
    guard let settings = try? configuration.get().settings else { return (nil, "unknown") }
    let keys = settings.bindings.chords.filter { chord in
      settings.machines.indices.contains { machineIndex in
        let uses = settings.bindings[chord, machineIndex]
        return uses?.press != nil && uses?.release != nil
      }
    }
    return keys.isEmpty
      ? (false, "none has its press and release bound:\n'sudo keymodectl recipe push-to-talk'")
      : (true, "\(listed(keys.map(\.shortName).sorted())), with its release")
  }

  func pipeWire() -> Finding {
    let folder = environment("PIPEWIRE_RUNTIME_DIR") ?? environment("XDG_RUNTIME_DIR") ?? "/run"
    let path = "\(folder)/\(environment("PIPEWIRE_REMOTE") ?? "pipewire-0")"
    do throws(SystemError) {
      let socket = try unixSocket("connect to", path)
      try connectSocket(socket.number, to: path, "connect to")
      return (true, "listens")
    } catch {
      let isInstalled = access("/usr/bin/pipewire", X_OK) == 0
      let start = "systemctl --user enable --now pipewire.socket"
      return (false, "\(error):\n'\(isInstalled ? start : "sudo apt install pipewire-audio")'")
    }
  }

  func microphone() -> Finding {
    let unit = "keymode-call.service"
    return property("ActiveState", of: unit, "--user") == "active"
      ? (true, "\(unit) makes it")
      : (false, "there is none:\n'systemctl --user enable --now \(unit)' makes one")
  }
}

/// A property of a unit, as `systemctl` tells it; empty if `systemctl` does not answer.
private func property(_ name: String, of unit: String, _ scope: String = "--system") -> String {
  let command = "timeout 5 systemctl \(scope) show --value --property=\(name) \(unit) 2>/dev/null"
  guard let pipe = popen(command, "r") else { return "" }
  defer { pclose(pipe) }
  var bytes: [UInt8] = []
  _ = try? readSome(from: fileno(pipe), upTo: 4096) { bytes += $0 }
  return String(decoding: bytes.split(separator: UInt8(ascii: "\n")).first ?? [], as: UTF8.self)
}
