import System
import Terminal

/// The named descriptors that the service manager passed at the start: sockets, and files in
/// memory that the manager has stored for the previous daemon.
final class PassedDescriptors {
  private enum StoredFile: String {
    case states, configuration
  }

  private var descriptors: [(name: String, number: Int32)]

  init() throws(SystemError) { descriptors = try ServiceManager.takeDescriptors() }

  /// The listening sockets. Closes all other descriptors.
  func takeSockets() -> [ListeningSocket] {
    defer { descriptors = [] }
    var sockets: [ListeningSocket] = []
    for (name, number) in descriptors {
      let descriptor = FileDescriptor(owning: number)
      switch name {
      case "state": sockets.append(ListeningSocket(descriptor, access: .reading))
      case "control": sockets.append(ListeningSocket(descriptor, access: .control))
      case _ where StoredFile(rawValue: name) != nil: break  // unused with a recording
      default:
        Log.warning(
          "ignoring the socket '\(name)' of the service manager; known names are 'state' and 'control'"
        )
      }
    }
    return sockets
  }

  /// The previous daemon's store, or a new one; `nil` without a service manager, or if both fail.
  func takeStates() -> StateStore? {
    if let file = take(.states) {
      if let store = try? StateStore(file), store.contents != nil { return store }
      Log.warning("the stored states are invalid; starting with the initial states")
    }
    guard let file = PassedDescriptors.storeNewFile(.states) else { return nil }
    return try? StateStore(file)
  }

  /// The last good configuration of the previous daemon, in YAML; `nil` if there is none.
  func takeConfiguration() -> [UInt8]? { take(.configuration)?.content }

  /// Stores a configuration, in YAML, for the next daemon. The file is written before the service
  /// manager has it, so that the next daemon gets a whole configuration or none.
  static func storeConfiguration(_ printed: [UInt8]) { _ = storeNewFile(.configuration, printed) }

  private func take(_ file: StoredFile) -> FileDescriptor? {
    let found = descriptors.firstIndex { $0.name == file.rawValue }
    guard let index = found else { return nil }
    return FileDescriptor(owning: descriptors.remove(at: index).number)
  }

  /// Makes a file in memory. The service manager stores it instead of the previous file. Returns
  /// `nil` without a service manager, or if the file cannot be made.
  private static func storeNewFile(_ file: StoredFile, _ content: [UInt8] = []) -> FileDescriptor? {
    guard ServiceManager.isPresent else { return nil }
    do throws(SystemError) {
      let memory = try FileDescriptor.inMemory("keymoded-\(file.rawValue)")
      try writeAll(content, to: memory.number, "memory")
      ServiceManager.store(memory.number, name: file.rawValue)
      return memory
    } catch {
      Log.warning("\(error); states and configuration may not survive a restart")
      return nil
    }
  }
}
