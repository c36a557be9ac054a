import System
import Terminal

/// A descriptor that becomes readable when another descriptor is readable, or when a time comes.
/// The other descriptor and the time can be replaced.
final class Wakeup {
  private let descriptorSet: DescriptorSet
  private let timer: TimerDescriptor
  private var awaited: Int32?

  /// The descriptor to wait on for reading.
  var descriptor: Int32 { descriptorSet.descriptor }

  init() throws(ClientError) {
    do throws(SystemError) {
      let (descriptorSet, timer) = (try DescriptorSet(), try TimerDescriptor())
      try descriptorSet.add(timer.descriptor)
      (self.descriptorSet, self.timer) = (descriptorSet, timer)
    } catch {
      throw .failed("\(error)")
    }
  }

  /// Waits for this descriptor and this time, instead of the previous ones. The previous descriptor
  /// must still be open.
  func wait(for next: Int32?, until deadline: SuspendingClock.Instant?) throws(ClientError) {
    stop()
    timer.set(after: deadline.map { SuspendingClock.now.duration(to: $0) })
    guard let next else { return }
    awaited = next
    do throws(SystemError) { try descriptorSet.add(next) } catch { throw .failed("\(error)") }
  }

  /// Waits for nothing until the next ``wait(for:until:)``.
  func stop() {
    if let awaited { descriptorSet.remove(awaited) }
    awaited = nil
    timer.set(after: nil)
  }
}
