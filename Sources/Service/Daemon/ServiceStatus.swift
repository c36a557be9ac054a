import System

/// The line that `systemctl status` shows: the number of keyboards and a warning, never a state.
final class ServiceStatus {
  /// How many keyboards are followed; `nil` while a recording is played.
  var keyboardCount: Int? { didSet { notify(unless: keyboardCount == oldValue) } }

  /// A warning about the configuration.
  var warning: String? { didSet { notify(unless: warning == oldValue) } }

  private func notify(unless isSame: Bool) {
    guard !isSame, let keyboardCount else { return }
    let warning = warning.map { "; \($0)" } ?? ""
    ServiceManager.showStatus("keyboards followed: \(keyboardCount)\(warning)")
  }
}
