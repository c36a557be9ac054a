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

  /// The listening sockets that it passed, by the names that their units give them.
  ///
  /// The environment that told of them is cleared, so that they are taken once.
  public static func takeListeningSockets() throws(SystemError) -> [(name: String, number: Int32)] {
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
