import CLinux
import Glibc

/// Descriptors that are waited for together.
///
/// `epoll(7)` describes the corresponding C functions. The methods throw the functions' errors.
public final class DescriptorSet: Sendable {
  private let file: FileDescriptor

  /// Readable while one of the descriptors is readable.
  public var descriptor: Int32 { file.number }

  /// A set without descriptors.
  public init() throws(SystemError) {
    file = FileDescriptor(
      owning: try retrying("make a set of descriptors") { epoll_create1(Int32(EPOLL_CLOEXEC)) })
  }

  /// Adds a descriptor, which must stay open until ``remove(_:)``.
  public func add(_ descriptor: Int32) throws(SystemError) {
    var event = epoll_event(events: EPOLLIN.rawValue, data: epoll_data_t(fd: descriptor))
    try retrying("watch a descriptor") {
      epoll_ctl(file.number, EPOLL_CTL_ADD, descriptor, &event)
    }
  }

  /// Removes a descriptor, if it is there.
  public func remove(_ descriptor: Int32) {
    epoll_ctl(file.number, EPOLL_CTL_DEL, descriptor, nil)
  }
}

/// A descriptor that is readable once a time has come on `CLOCK_MONOTONIC`, which omits suspend.
///
/// The corresponding C functions are `timerfd_create` and `timerfd_settime`.
public final class TimerDescriptor: Sendable {
  private let file: FileDescriptor

  /// The descriptor to wait on for reading.
  public var descriptor: Int32 { file.number }

  /// A timer that is off. Throws the error of `timerfd_create`.
  public init() throws(SystemError) {
    file = FileDescriptor(
      owning: try retrying("make a timer") {
        timerfd_create(CLOCK_MONOTONIC, Int32(TFD_CLOEXEC | TFD_NONBLOCK))
      })
  }

  /// Makes the descriptor readable `delay` from now, never earlier; `nil` turns the timer off.
  public func set(after delay: Duration?) {
    var time = itimerspec()
    if let delay {
      let (seconds, attoseconds) = max(.zero, delay).components
      time.it_value.tv_sec = time_t(seconds)
      // Zero would turn the timer off.
      time.it_value.tv_nsec = min(Int(attoseconds / 1_000_000_000) + 1, 999_999_999)
    }
    timerfd_settime(file.number, 0, &time, nil)
  }
}
