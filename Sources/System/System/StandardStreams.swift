import Glibc

/// If standard input, output or error is closed at the start, opens `/dev/null` in its place.
/// Otherwise a socket could get that number, and receive output meant for people.
///
/// `/dev/null` is opened for the wrong direction: reading and writing fail as on a closed stream.
public func reserveStandardStreams() {
  for number in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] where fcntl(number, F_GETFD) < 0 {
    // `open` returns the lowest free number, which is this one.
    _ = open("/dev/null", number == STDIN_FILENO ? O_WRONLY : O_RDONLY)
  }
}
