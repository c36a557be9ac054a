import Glibc

/// The signals of this process.
public enum Signals {
  /// Whether this process ignores the signal, as a program that `nohup` starts ignores SIGHUP.
  public static func isIgnored(_ number: Int32) -> Bool {
    var action = sigaction()
    guard sigaction(number, nil, &action) == 0 else { return false }
    // C defines SIG_IGN as the address 1. Swift cannot compare pointers to functions.
    return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 1
  }

  /// Blocks signals for this thread and the threads that it starts. Blocked signals wait until the
  /// event loop reads them.
  static func block(_ numbers: [Int32]) { changeMask(SIG_BLOCK, numbers) }

  /// Applies the signal's default action to this process.
  public static func applyDefaultAction(of number: Int32) {
    signal(number, SIG_DFL)
    changeMask(SIG_UNBLOCK, [number])
    raise(number)
  }

  private static func changeMask(_ change: Int32, _ numbers: [Int32]) {
    var set = sigset_t()
    sigemptyset(&set)
    for number in numbers { sigaddset(&set, number) }
    pthread_sigmask(change, &set, nil)
  }
}
