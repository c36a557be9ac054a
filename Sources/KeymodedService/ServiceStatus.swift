import Systemd

/// The line that `systemctl status` shows: the number of devices, never a state.
final class ServiceStatus {
  /// How many devices are followed; `nil` while a recording is played.
  var devices: Int? { didSet { notify(unless: devices == oldValue) } }

  /// A warning about the configuration.
  var warning: String? { didSet { notify(unless: warning == oldValue) } }

  private func notify(unless isSame: Bool) {
    guard !isSame, let devices else { return }
    let warning = warning.map { "; \($0)" } ?? ""
    ServiceManager.notify("STATUS=devices followed: \(devices)\(warning)")
  }
}
