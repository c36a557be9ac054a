import SystemCalls
import Systemd

/// What the service manager passed when it started the daemon, by name: sockets, and memory that the
/// daemon before this one gave it to keep.
final class PassedDescriptors {
  /// Each layout of the memory has a name of its own: the new one is kept before the old one is let go,
  /// so that a daemon that is killed in between loses nothing.
  private enum Kept: String {
    case states = "states-2"
    case statesOfFirstLayout = "states"
    case configuration
  }

  private var numbers: [(name: String, number: Int32)]

  init() throws(SystemError) { numbers = try ServiceManager.takeDescriptors() }

  /// The listening sockets. What else was passed is let go.
  func takeSockets() -> [ListeningSocket] {
    defer { numbers = [] }
    var sockets: [ListeningSocket] = []
    for (name, number) in numbers {
      let descriptor = FileDescriptor(owning: number)
      switch name {
      case "state": sockets.append(ListeningSocket(descriptor, access: .reading))
      case "control": sockets.append(ListeningSocket(descriptor, access: .control))
      case _ where Kept(rawValue: name) != nil: break  // a recording does not go on
      default:
        Log.warning("the service manager passed a socket called '\(name)', which is not served")
      }
    }
    return sockets
  }

  /// What was kept of the states, or new memory; `nil` where there is no service manager to keep it.
  func takeStates() -> StateStore? {
    let capacity = StateStore.capacity
    let isFormerKept = has(.statesOfFirstLayout)
    let isKept = has(.states) || isFormerKept
    let former = take(.statesOfFirstLayout, size: StateStore.sizeOfFirstLayout(capacity: capacity))
    var made: SharedMemory?
    defer {
      if isFormerKept { ServiceManager.drop(Kept.statesOfFirstLayout.rawValue) }
      // A unit that an administrator copied from version 0.1.0 has room for one: now there is.
      if isFormerKept, let made {
        ServiceManager.store(made.descriptor, name: Kept.states.rawValue)
      }
    }
    if let memory = take(.states, size: StateStore.size(capacity: capacity)) {
      let store = StateStore(memory)
      if store.read() != nil { return store }
    }
    made = make(.states, size: StateStore.size(capacity: capacity))
    guard let memory = made else { return nil }
    if let former, let store = StateStore(memory, migrating: former) { return store }
    if isKept { Log.warning("what was kept of the states makes no sense; starting anew") }
    return StateStore(memory)
  }

  /// What was kept of the configuration, or new memory; `nil` where there is no service manager to keep
  /// it.
  func takeConfiguration() -> ConfigurationStore? {
    let size = ConfigurationStore.size
    return (take(.configuration, size: size) ?? make(.configuration, size: size)).map(
      ConfigurationStore.init)
  }

  private func has(_ kept: Kept) -> Bool { numbers.contains { $0.name == kept.rawValue } }

  /// - Returns: `nil` where it was not passed, or cannot be read safely.
  private func take(_ kept: Kept, size: Int) -> SharedMemory? {
    guard let index = numbers.firstIndex(where: { $0.name == kept.rawValue }) else { return nil }
    return SharedMemory(
      adopting: FileDescriptor(owning: numbers.remove(at: index).number), size: size)
  }

  /// New memory that the service manager keeps, in place of what it has kept under that name.
  private func make(_ kept: Kept, size: Int) -> SharedMemory? {
    guard ServiceManager.isPresent else { return nil }
    do throws(SystemError) {
      let memory = try SharedMemory(name: "keymoded-\(kept.rawValue)", size: size)
      ServiceManager.keep(memory.descriptor, name: kept.rawValue)
      return memory
    } catch {
      Log.warning("\(error): what the daemon knows will not outlive it")
      return nil
    }
  }
}
