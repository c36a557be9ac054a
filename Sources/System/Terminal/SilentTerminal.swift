import Glibc

/// Silences a terminal from ``enter()`` to ``leave()``: the terminal shows no typed characters, and
/// the next program does not get them.
public final class SilentTerminal {
  private let descriptor: Int32
  private var formerSettings = termios()
  private var isEntered = false

  /// The terminal of this descriptor, which stays open; `nil` if the descriptor is no terminal.
  public init?(_ descriptor: Int32) {
    guard isatty(descriptor) == 1 else { return nil }
    self.descriptor = descriptor
  }

  deinit { leave() }

  /// The first of standard input, output and error that is a terminal; `nil` if none is.
  public static func ofThisProgram() -> SilentTerminal? {
    [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO].lazy.compactMap { SilentTerminal($0) }.first
  }

  /// Turns off echo, line editing and flow control. Ctrl+C and Ctrl+Z keep working. Does nothing in
  /// the background, where the terminal belongs to another program.
  public func enter() {
    guard !isEntered, isInForeground, tcgetattr(descriptor, &formerSettings) == 0 else { return }
    isEntered = true
    var changed = formerSettings
    changed.c_lflag &= ~tcflag_t(ECHO | ECHONL | ICANON | IEXTEN)
    // Otherwise a press of Ctrl+S would stop the output.
    changed.c_iflag &= ~tcflag_t(IXON)
    tcsetattr(descriptor, TCSANOW, &changed)
  }

  /// Discards the characters typed since ``enter()``, and restores the settings. Does neither in
  /// the background.
  public func leave() {
    guard isEntered else { return }
    isEntered = false
    guard isInForeground else { return }
    tcflush(descriptor, TCIFLUSH)
    tcsetattr(descriptor, TCSANOW, &formerSettings)
  }

  /// Stops this process, as SIGTSTP does. Meanwhile the terminal has its former settings.
  public static func stopProcess(leaving terminal: SilentTerminal?) {
    terminal?.leave()
    raise(SIGSTOP)
    terminal?.enter()
  }

  /// Whether this process may change the settings without being stopped: it is in the foreground
  /// of the terminal, or the terminal is not its controlling terminal.
  var isInForeground: Bool {
    let group = tcgetpgrp(descriptor)
    return group < 0 || group == getpgrp()
  }
}
