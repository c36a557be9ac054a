import Configuration
import Glibc
import KeyboardModes
import System
import Terminal
import Wire

@testable import Daemon

@_silgen_name("__sanitizer_get_current_allocated_bytes")
private func allocatedBytes() -> Int

private let stateSocket = Listener()
private let controlSocket = Listener()

/// A server with its event loop, in the process of the fuzzer; the clients of a script; and two
/// innocent ones, who must not notice them.
final class Scene {
  static let instance = "0123456789abcdef0123456789abcdef"

  /// Few, so that a slow client has soon missed some.
  private static let ringCapacity = 64

  private let loop: EventLoop
  private let keyboard = StillKeyboard()
  private let service: ModeService
  private let server: Server

  /// Those of the script.
  private(set) var peers: [Peer] = []
  /// Subscribed from the beginning, and reads at every step.
  private let watcher: Peer
  /// Asks for the state at every step.
  private let asker: Peer
  /// The changes that the watcher was told, by number.
  private(set) var changes: [Int64: Change] = [:]

  private let isWhole: Bool
  private let allocatedBefore = allocatedBytes()
  private var controller: Controller { service.engine.controller }
  /// The number of the last of them.
  var latest: Int64 { controller.states.sequence }
  private var current = 0
  private var told: Int64 = 0
  private var isTap = false

  /// - Parameter isWhole: whether what a step sends is sent at once, or in single bytes.
  init(isWhole: Bool) throws {
    self.isWhole = isWhole
    loop = try EventLoop()
    let file = try FileDescriptor.inMemory("fuzz")
    // So that the name of the sequence is one that a script can know.
    let first = Controller()
    let state = StateMessage(instance: Self.instance, time: keyboard.now, states: first.states)
    let message = MonitorReply(state: state, changes: [], missed: 0)
    try StateStore(file).commit(Reply.message(message, continues: true), first.snapshot)
    let engine = Engine(
      settings: Settings(), ringCapacity: Self.ringCapacity, store: try StateStore(file),
      at: keyboard.now)
    service = ModeService(source: keyboard, engine)
    let callHandler = CallHandler(service, ConfigurationFile("")) { [keyboard] in
      keyboard.now.microseconds
    }
    server = try Server(loop, callHandler, service.publisher)
    for (listener, access) in [(stateSocket, Access.reading), (controlSocket, .control)] {
      // The server closes its own.
      let number = dup(listener.number)
      try server.listen(on: ListeningSocket(FileDescriptor(owning: number), access: access))
    }
    watcher = Peer(stateSocket, isControl: false)
    asker = Peer(stateSocket, isControl: false)
    watcher.send(
      Call(ControllerInterface.monitor, wantsMore: true).message[...])
    connect(isControl: true)
    settle()
    checkInnocents()
  }

  private func connect(isControl: Bool) {
    current = peers.count
    peers.append(Peer(isControl ? controlSocket : stateSocket, isControl: isControl))
  }

  func perform(_ step: VarlinkScript.Step) {
    switch step {
    case .send(let bytes): send(bytes)
    case .read: peers[current].read()
    case .endSending: peers[current].endSending()
    case .leave: peers[current].leave()
    case .connect(let isControl): connect(isControl: isControl)
    case .choose: current = (current + 1) % peers.count
    case .shift: type(keyboard.tap(42))
    case .keys(let count): type((0..<count).flatMap { _ in keyboard.tap(127) })
    case .letter:
      let watched = (controller.states.sequence, watcher.received.count)
      type(keyboard.tap(30))
      settle()
      watcher.read()
      require(
        watched == (controller.states.sequence, watcher.received.count)
          || watched.0 < controller.states.sequence, "a key that changes nothing is told")
    case .reload:
      isTap.toggle()
      apply(Settings(shiftTrigger: isTap ? .tap : .press))
    }
    settle()
    checkInnocents()
  }

  private func type(_ inputs: [Controller.Input]) {
    keyboard.unread = inputs
    service.advance()
  }

  private func apply(_ settings: Settings) {
    var configuration = Configuration()
    configuration.settings = settings
    do { try service.apply(configuration) } catch { fatalError("\(error)") }
  }

  private func send(_ bytes: [UInt8]) {
    // What is sent in thousands of pieces takes long, and is in pieces all the same.
    let size = isWhole ? bytes.count : max(1, bytes.count / 200)
    var rest = bytes[...]
    while !rest.isEmpty {
      peers[current].send(rest.prefix(size))
      rest = rest.dropFirst(size)
      if !isWhole { settle() }
    }
  }

  /// Lets the server do all that there is to do.
  func settle() {
    var turns = 0
    do throws(SystemError) {
      while try loop.runOnce() { turns += 1 }
    } catch {
      fatalError("\(error)")
    }
    // No call has less than 13 bytes, and each takes a turn or two.
    let sent = peers.reduce(0) { $0 + $1.sent.count }
    require(turns < 1000 + sent / 4, "the loop turns without anything to do")
    checkMemory()
  }

  private func checkMemory() {
    let own = peers.reduce(watcher.footprint + asker.footprint) { $0 + $1.footprint }
    let used = allocatedBytes() - allocatedBefore - own - 300 * changes.capacity
    require(used < 1_500_000 + 300_000 * peers.count, "\(used) bytes for these clients")
  }

  private func checkInnocents() {
    asker.send(Call(ControllerInterface.getState).message[...])
    settle()
    let sequence = controller.states.sequence
    let answers = replies(of: asker)
    let state = answers.last?.parameters["state"].flatMap(StateMessage.init)
    require(state?.states == controller.states, "an innocent client gets no answer")
    for reply in replies(of: watcher) {
      guard let message = MonitorReply(reply.parameters) else {
        fatalError("no reply to Monitor: \(reply)")
      }
      let missed = message.missed ?? 0
      require(missed == 0 || missed > Self.ringCapacity, "a change was lost")
      told += missed
      for change in message.changes {
        told += 1
        require(change.sequence == told, "an innocent client is told in another order")
        changes[told] = change
      }
    }
    require(told == sequence, "an innocent client missed a change")
  }

  private var place: [ObjectIdentifier: Int] = [:]

  /// What this client was told since this was last asked.
  private func replies(of peer: Peer) -> [Reply] {
    peer.read()
    let start = place[ObjectIdentifier(peer)] ?? 0
    place[ObjectIdentifier(peer)] = peer.received.count
    return Transcript.replies(peer.received[start...])
  }

  /// How many clients the server says there are, besides the two innocent ones and who asks.
  func clientCount() -> Int64? {
    let guest = Peer(controlSocket, isControl: true)
    guest.send(Call(ControllerInterface.getStatistics).message[...])
    settle()
    return replies(of: guest).first?.parameters["clients"]?.integer.map { $0 - 3 }
  }

  /// Has all who are still there read all that there is.
  func finish() {
    var isMoving = true
    while isMoving {
      settle()
      isMoving = false
      for peer in peers {
        let before = peer.sent.count
        peer.push()
        if peer.read() || peer.sent.count > before { isMoving = true }
      }
    }
    checkInnocents()
  }
}
