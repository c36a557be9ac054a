public import StateMachines

extension ObservedMachine where R: TimedRules, R.Event: Sendable {
  /// Sends the event of each state's timeout, until the machine or the task ends. The timeout
  /// of the present state begins with this call. Call this once, in a task of the machine's actor.
  public func keepTime(
    on clock: some Clock<Duration>, isolation: isolated (any Actor)? = #isolation
  ) async {
    let (dueEvents, sender) = AsyncStream.makeStream(of: (Int, R.Event).self)
    var (entryCount, sleep) = (0, Task<Void, Never>?.none)
    let begin = { [rules] (state: R.State) in
      entryCount += 1
      sleep?.cancel()
      if rules.isFinal(state) { sender.finish() }
      sleep = rules.timeout(of: state).map { timeout in
        let deadline = clock.now.advanced(by: timeout.after)
        return Task { [entryCount, event = timeout.event] in
          if (try? await clock.sleep(until: deadline, tolerance: nil)) != nil {
            sender.yield((entryCount, event))
          }
        }
      }
    }
    begin(state)
    let registration = entering { begin($0.to) }
    for await (number, event) in dueEvents where number == entryCount { send(event) }
    registration.end()
    sleep?.cancel()
  }
}
