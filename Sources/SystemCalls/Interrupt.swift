import CLinux
import Glibc

/// Ends another thread's wait: a descriptor that is readable from ``send()`` until ``clear()``.
///
/// The corresponding C function is `eventfd`, whose error ``init()`` throws.
public final class Interrupt: Sendable {
  private let file: FileDescriptor

  /// The descriptor to wait on for reading.
  public var descriptor: Int32 { file.number }

  /// An interrupt that has not been sent.
  public init() throws(SystemError) {
    let flags = Int32(EFD_CLOEXEC | EFD_NONBLOCK)
    file = FileDescriptor(owning: try retrying("make", "an eventfd") { eventfd(0, flags) })
  }

  /// Makes the descriptor readable.
  public func send() {
    var one: UInt64 = 1
    _ = write(file.number, &one, 8)
  }

  /// Makes the descriptor unreadable until the next ``send()``.
  public func clear() {
    var count: UInt64 = 0
    _ = read(file.number, &count, 8)
  }
}

/// Gives the calling thread a name for debuggers and `ps -T`, of up to 15 bytes.
public func nameThread(_ name: String) { keymoded_name_thread(name) }
