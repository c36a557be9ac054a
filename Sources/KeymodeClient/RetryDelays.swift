/// How long to wait before each attempt to connect. A ``SocketWatch`` usually ends the wait
/// sooner; the time covers what it cannot see, such as a daemon that begins to listen on an
/// existing socket.
package struct RetryDelays: Sendable {
  package static let usual = RetryDelays(shortest: .milliseconds(10), longest: .seconds(5))

  private let shortest: Duration
  private let longest: Duration
  private var coming: Duration

  /// Waits `shortest` the first time, then twice as long each time, up to `longest`.
  package init(shortest: Duration, longest: Duration) {
    (self.shortest, self.longest, coming) = (shortest, longest, shortest)
  }

  /// The next delay.
  package mutating func next() -> Duration {
    defer { coming = min(coming * 2, longest) }
    return coming
  }

  /// Begins with the shortest again.
  package mutating func begin() { coming = shortest }
}
