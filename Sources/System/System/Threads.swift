import Glibc

/// Starts a thread with all signals blocked, so that they reach the program's other threads.
///
/// - Throws: the error of `pthread_create`.
public func startThread(_ body: @escaping @Sendable () -> Void) throws(SystemError) {
  var all = sigset_t()
  var formerMask = sigset_t()
  sigfillset(&all)
  pthread_sigmask(SIG_SETMASK, &all, &formerMask)
  defer { pthread_sigmask(SIG_SETMASK, &formerMask, nil) }
  let context = Unmanaged.passRetained(ThreadBody(body))
  var thread = pthread_t()
  let error = pthread_create(
    &thread, nil,
    { context in
      if let context { Unmanaged<ThreadBody>.fromOpaque(context).takeRetainedValue().run() }
      return nil
    }, context.toOpaque())
  guard error == 0 else {
    context.release()
    throw SystemError("start", "a thread", code: error)
  }
  pthread_detach(thread)
}

private final class ThreadBody: Sendable {
  let run: @Sendable () -> Void

  init(_ run: @escaping @Sendable () -> Void) { self.run = run }
}
