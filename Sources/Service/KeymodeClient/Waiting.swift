import Glibc
import System
import Terminal

/// Waits until a descriptor is readable, and returns `true`; `false` if the task was cancelled. The
/// descriptor must stay open until this returns.
///
/// A task that blocked in a system call would hold one of the few threads that all tasks share. So
/// each wait has a thread of its own, which sleeps in `poll`.
func waitUntilReadable(
  _ descriptor: Int32, isolation: isolated (any Actor)? = #isolation
) async throws(ClientError) -> Bool {
  let result: Result<Bool, SystemError>
  do throws(SystemError) {
    let cancellation = try FileDescriptor.pipe()
    defer {
      close(cancellation.reading)
      close(cancellation.writing)
    }
    result = await withTaskCancellationHandler {
      await withCheckedContinuation { wait in
        do throws(SystemError) {
          try startThread {
            var entries = [descriptor, cancellation.reading].map {
              pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
            }
            while poll(&entries, 2, -1) < 0 {}
            wait.resume(returning: .success(entries[1].revents == 0))
          }
        } catch {
          wait.resume(returning: .failure(error))
        }
      }
    } onCancel: {
      _ = write(cancellation.writing, "", 1)
    }
    return try result.get()
  } catch {
    throw .failed("\(error)")
  }
}
