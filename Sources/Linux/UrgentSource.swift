/// A descriptor that the loop serves before its other sources. Releasing this object removes it
/// from the loop.
public final class UrgentSource {
  let handler: () -> Void
  private let descriptor: Int32
  private let loop: EventLoop
  private var hasEnded = false

  init(_ descriptor: Int32, of loop: EventLoop, _ handler: @escaping () -> Void) {
    (self.descriptor, self.loop, self.handler) = (descriptor, loop, handler)
  }

  deinit { end() }

  /// Removes the source from the loop at once. Call this before closing the descriptor if another
  /// reference to the source may remain.
  public func end() {
    guard !hasEnded else { return }
    hasEnded = true
    loop.all.remove(descriptor)
  }
}
