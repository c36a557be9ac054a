import System
import Terminal

/// The named descriptors that the service manager passed at the start: sockets, and files in
/// memory that the manager has kept for the previous daemon.
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

  /// The previous daemon's store, or a new one; `nil` without a service manager, or if both fail.
  func takeStates() -> StateStore? {
    if let file = take(.states) {
      if let store = try? StateStore(file), store.contents != nil { return store }
      Log.warning("the stored states are invalid; starting with the initial states")
    }
    guard let file = PassedDescriptors.keep(.states) else { return nil }
    return try? StateStore(file)
  }

  /// The last good configuration of the previous daemon, in YAML; `nil` if there is none.
  func takeConfiguration() -> [UInt8]? { take(.configuration)?.content }

  /// Keeps a configuration, in YAML, for the next daemon. The file is written before the service
  /// manager has it, so that the next daemon gets a whole configuration or none.
  static func keepConfiguration(_ printed: [UInt8]) { _ = keep(.configuration, printed) }

  private func take(_ kept: Kept) -> FileDescriptor? {
    guard let index = numbers.firstIndex(where: { $0.name == kept.rawValue }) else { return nil }
    return FileDescriptor(owning: numbers.remove(at: index).number)
  }

  /// A new file in memory. The service manager keeps it instead of the previous one. `nil` without
  /// a service manager, or if the file cannot be made.
  private static func keep(_ kept: Kept, _ content: [UInt8] = []) -> FileDescriptor? {
    guard ServiceManager.isPresent else { return nil }
    do throws(SystemError) {
      let file = try FileDescriptor.inMemory("keymoded-\(kept.rawValue)")
      try writeAll(content, to: file.number, "memory")
      ServiceManager.store(file.number, name: kept.rawValue)
      return file
    } catch {
      Log.warning("\(error); states and configuration may not survive a restart")
      return nil
    }
  }
}
