import CLinux
import Glibc
public import Terminal

/// Starts a thread with all signals blocked, so that they reach the program's other threads.
///
/// - Parameter name: what debuggers and `ps -T` show; up to 15 bytes.
/// - Throws: the error of `pthread_create`.
public func startThread(
  named name: String, _ body: @escaping @Sendable () -> Void
) throws(SystemError) {
  var all = sigset_t()
  var before = sigset_t()
  sigfillset(&all)
  pthread_sigmask(SIG_SETMASK, &all, &before)
  defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
  let work = ThreadBody { () -> Void in
    keymoded_name_thread(name)
    body()
  }
  let context = Unmanaged.passRetained(work)
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
