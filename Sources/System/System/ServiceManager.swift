import CLinux
import Glibc

/// The service manager that started this program, if one did.
public enum ServiceManager {
  /// Sends the service manager variables of `sd_notify(3)`, such as `READY=1`.
  public static func notify(_ state: String) {
    // Does nothing without a service manager. A failure is ignored: the manager is gone then.
    sd_notify(0, state)
  }

  /// Sends the service manager the line that `systemctl status` shows. A line end becomes a space,
  /// because a line end would begin another variable.
  public static func showStatus(_ status: String) {
    notify("STATUS=\(status.split(separator: "\n").joined(separator: " "))")
  }

  /// Whether a service manager started this process and accepts its notifications.
  public static var isPresent: Bool {
    guard environment("NOTIFY_SOCKET") != nil else { return false }
    // A terminal that is itself a service passes NOTIFY_SOCKET on to the programs started in it.
    // Since version 248, SYSTEMD_EXEC_PID names the process that systemd itself started.
    guard let process = environment("SYSTEMD_EXEC_PID") else { return true }
    return process == "\(getpid())"
  }

  /// The user unit that this process is in, such as `speech.service`; `nil` if there is none, as in
  /// a login session.
  public static var userUnit: String? { ofThisProcess(sd_pid_get_user_unit) }

  /// The system unit that this process is in; `nil` if there is none.
  public static var systemUnit: String? { ofThisProcess(sd_pid_get_unit) }

  /// The ID of the user whose session or service manager this process is in; `nil` for neither.
  public static var ownerID: UInt32? {
    var user: UInt32 = 0
    return sd_pid_get_owner_uid(0, &user) >= 0 ? user : nil
  }

  /// The name that `get`, a function of `sd-login(3)`, returns for this process.
  static func ofThisProcess(
    _ get: (pid_t, UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?) -> Int32
  ) -> String? {
    var name: UnsafeMutablePointer<CChar>?
    guard get(0, &name) >= 0, let name else { return nil }
    defer { free(name) }
    return String(cString: name)
  }

  /// Asks the service manager to store a descriptor for the next process of the service, instead of
  /// the descriptors stored under this name.
  public static func store(_ descriptor: Int32, name: String) {
    sd_notify(0, "FDSTOREREMOVE=1\nFDNAME=\(name)")
    var descriptor = descriptor
    sd_pid_notify_with_fds(0, 0, "FDSTORE=1\nFDNAME=\(name)", &descriptor, 1)
  }

  /// The descriptors that the service manager passed, with their names: listening sockets, named by
  /// their units, and descriptors stored by ``store(_:name:)``.
  ///
  /// The call unsets the environment variables that announce the descriptors, so a second call
  /// returns none.
  ///
  /// - Throws: the error of `sd_listen_fds_with_names`.
  public static func takeDescriptors() throws(SystemError) -> [(name: String, number: Int32)] {
    var names: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
    let count = try checked("take the passed sockets", sd_listen_fds_with_names(1, &names))
    defer {
      for index in 0..<Int(count) { free(names?[index]) }
      free(names)
    }
    return (0..<Int(count)).map { index in
      let name = names?[index].map { String(cString: $0) } ?? ""
      return (name, SD_LISTEN_FDS_START + Int32(index))
    }
  }

  /// A random 128-bit ID in hexadecimal.
  public static func randomID() -> String {
    var id = sd_id128_t()
    sd_id128_randomize(&id)
    // 32 digits and a NUL.
    var digits = [CChar](repeating: 0, count: 33)
    _ = sd_id128_to_string(id, &digits)
    return String(decoding: digits.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
