import SystemCalls
import Systemd

/// What the service manager passed when it started the daemon, by name.
final class PassedDescriptors {
  private static let store = "states"

  private var numbers: [(name: String, number: Int32)]

  init() throws(SystemError) { numbers = try ServiceManager.takeDescriptors() }

  /// The listening sockets.
  func takeSockets() -> [ListeningSocket] {
    defer { numbers = [] }
    var sockets: [ListeningSocket] = []
    for (name, number) in numbers {
      let descriptor = FileDescriptor(owning: number)
      switch name {
      case "state": sockets.append(ListeningSocket(descriptor, access: .reading))
      case "control": sockets.append(ListeningSocket(descriptor, access: .control))
      case Self.store: break  // nothing of a recording goes on
      default:
        Log.warning("the service manager passed a socket called '\(name)', which is not served")
      }
    }
    return sockets
  }

  /// What was kept of the states: what the daemon before this one gave the service manager, or new
  /// memory that it is given now; `nil` where there is no service manager.
  func takeStore() -> StateStore? {
    let size = StateStore.size(capacity: StateStore.capacity)
    if let place = numbers.firstIndex(where: { $0.name == Self.store }) {
      let descriptor = FileDescriptor(owning: numbers.remove(at: place).number)
      if let memory = SharedMemory(adopting: descriptor, size: size) {
        let store = StateStore(memory)
        if store.read() != nil { return store }
      }
      Log.warning("what was kept of the states makes no sense; starting anew")
    }
    guard ServiceManager.isPresent else { return nil }
    do throws(SystemError) {
      let memory = try SharedMemory(name: "keymoded-states", size: size)
      ServiceManager.keep(memory.descriptor, name: Self.store)
      return StateStore(memory)
    } catch {
      Log.warning("\(error): the states will not outlive the daemon")
      return nil
    }
  }
}
