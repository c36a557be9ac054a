import Glibc

/// Opens `/dev/null` in place of standard input, output or error if that stream is closed at the
/// start: otherwise a socket could get the stream's number, and receive output meant for people.
///
/// Opens it for the wrong direction, so that reading and writing fail as if the stream were closed.
public func reserveStandardStreams() {
  for number in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] where fcntl(number, F_GETFD) < 0 {
    // `open` returns the lowest free number, which is this one.
    _ = open("/dev/null", number == STDIN_FILENO ? O_WRONLY : O_RDONLY)
  }
}
