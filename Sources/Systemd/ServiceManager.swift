internal import CLibsystemd
internal import Glibc
public import SystemCalls

/// The service manager that started this program, if one did.
public enum ServiceManager {
  /// Tells it that the program is ready, or of any other variable of `sd_notify(3)`.
  public static func notify(_ state: String) {
    // Without a service manager this does nothing, and one that has gone cannot be told.
    sd_notify(0, state)
  }

  /// Whether there is one that wants to be told anything.
  public static var isPresent: Bool { environment("NOTIFY_SOCKET") != nil }

  /// Gives it a descriptor to keep, under a name, and to pass to the next process of the service, in
  /// place of what it has kept under that name.
  public static func keep(_ descriptor: Int32, name: String) {
    drop(name)
    var descriptor = descriptor
    sd_pid_notify_with_fds(0, 0, "FDSTORE=1\nFDNAME=\(name)", &descriptor, 1)
  }

  /// Has it let go of the descriptors that it keeps under a name.
  public static func drop(_ name: String) { sd_notify(0, "FDSTOREREMOVE=1\nFDNAME=\(name)") }

  /// The descriptors that it passed: listening sockets, by the names that their units give them, and
  /// what it was given to keep.
  ///
  /// The environment that told of them is cleared, so that they are taken once.
  public static func takeDescriptors() throws(SystemError) -> [(name: String, number: Int32)] {
    var names: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
    let count = try checked("take the passed sockets", sd_listen_fds_with_names(1, &names))
    defer {
      for place in 0..<Int(count) { free(names?[place]) }
      free(names)
    }
    return (0..<Int(count)).map { place in
      let name = names?[place].map { String(cString: $0) } ?? ""
      return (name, SD_LISTEN_FDS_START + Int32(place))
    }
  }

  /// A random 128-bit number in hexadecimal.
  public static func randomName() -> String {
    var id = sd_id128_t()
    sd_id128_randomize(&id)
    return withUnsafeBytes(of: id) { bytes in
      let digits = Array("0123456789abcdef".utf8)
      let text = bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
      return String(decoding: text, as: UTF8.self)
    }
  }
}
