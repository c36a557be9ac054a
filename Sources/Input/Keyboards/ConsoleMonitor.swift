import Glibc
import System

/// Tells when another virtual terminal comes to the front. Each terminal has its own Caps Lock. The
/// kernel switches the LEDs at once, but a keyboard reports this only with its next event.
final class ConsoleMonitor {
  /// A file with the name of the terminal in front.
  private let activeFile: FileDescriptor
  private var source: EventSource?

  /// Calls `switched` from the loop after each switch. Throws if there are no virtual terminals.
  init(_ loop: EventLoop, switched: @escaping () -> Void) throws(SystemError) {
    activeFile = try FileDescriptor.opening("/sys/class/tty/tty0/active")
    readName()
    source = try loop.addIO(activeFile.number, .exceptional) { [unowned self] _ in
      readName()
      switched()
    }
  }

  /// The kernel reports the next switch only after the name has been read.
  private func readName() {
    withUnsafeTemporaryAllocation(byteCount: 64, alignment: 1) {
      _ = pread(activeFile.number, $0.baseAddress, $0.count, 0)
    }
  }
}
