internal import CLinux
import Glibc

/// What one thread can end another's wait with: a descriptor that is readable once it was sent.
///
/// The corresponding C function is `eventfd`.
public final class Interrupt: Sendable {
  private let file: FileDescriptor

  /// The descriptor, to be waited for.
  public var descriptor: Int32 { file.number }

  /// One that was not sent yet.
  public init() throws(SystemError) {
    let flags = Int32(EFD_CLOEXEC | EFD_NONBLOCK)
    file = FileDescriptor(owning: try retrying("make", "an eventfd") { eventfd(0, flags) })
  }

  /// Makes the descriptor readable.
  public func send() {
    var one: UInt64 = 1
    _ = write(file.number, &one, 8)
  }

  /// Makes it ready to be sent again.
  public func clear() {
    var count: UInt64 = 0
    _ = read(file.number, &count, 8)
  }
}

/// Gives the calling thread a name for debuggers and `ps -T`, of up to 15 bytes.
public func nameThread(_ name: String) { keymoded_name_thread(name) }
