import Linux
import Terminal

/// The descriptors that the service manager passed at the start, by name: sockets, and memory that
/// the previous daemon gave it to keep.
final class PassedDescriptors {
  private enum Kept: String {
    case states, configuration
  }

  private var numbers: [(name: String, number: Int32)]

  init() throws(SystemError) { numbers = try ServiceManager.takeDescriptors() }

  /// The listening sockets. Closes all other descriptors.
  func takeSockets() -> [ListeningSocket] {
    defer { numbers = [] }
    var sockets: [ListeningSocket] = []
    for (name, number) in numbers {
      let descriptor = FileDescriptor(owning: number)
      switch name {
      case "state": sockets.append(ListeningSocket(descriptor, access: .reading))
      case "control": sockets.append(ListeningSocket(descriptor, access: .control))
      case _ where Kept(rawValue: name) != nil: break  // unused with a recording
      default:
        Log.warning(
          "ignoring the socket '\(name)' of the service manager; known names are 'state' and 'control'"
        )
      }
    }
    return sockets
  }

  /// The store with the kept states, or with new memory; `nil` without a service manager.
  func takeStates() -> StateStore? {
    let size = StateStore.size(capacity: StateStore.capacity)
    let isKept = numbers.contains { $0.name == Kept.states.rawValue }
    if let memory = adopt(.states, size: size) {
      let store = StateStore(memory)
      if store.read() != nil { return store }
    }
    guard let memory = make(.states, size: size) else { return nil }
    if isKept { Log.warning("the stored states are invalid; starting with the initial states") }
    return StateStore(memory)
  }

  /// The kept configuration, or new memory for one; `nil` without a service manager.
  func takeConfiguration() -> KeptBytes? {
    let size = ConfigurationFile.keptSize
    return (adopt(.configuration, size: size) ?? make(.configuration, size: size)).map {
      KeptBytes($0, 0..<size, layout: ConfigurationFile.keptLayout)
    }
  }

  /// - Returns: `nil` if the memory was not passed, or cannot be read safely.
  private func adopt(_ kept: Kept, size: Int) -> SharedMemory? {
    guard let index = numbers.firstIndex(where: { $0.name == kept.rawValue }) else { return nil }
    return SharedMemory(
      adopting: FileDescriptor(owning: numbers.remove(at: index).number), size: size)
  }

  /// New memory that the service manager keeps; it replaces the memory of that name.
  private func make(_ kept: Kept, size: Int) -> SharedMemory? {
    guard ServiceManager.isPresent else { return nil }
    do throws(SystemError) {
      let memory = try SharedMemory(name: "keymoded-\(kept.rawValue)", size: size)
      ServiceManager.keep(memory.descriptor, name: kept.rawValue)
      return memory
    } catch {
      Log.warning("\(error); states and configuration may not survive a restart")
      return nil
    }
  }
}
