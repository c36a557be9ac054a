import Glibc

/// Opens `/dev/null` as standard input, output or error if the program was started with one of them
/// closed: otherwise a socket could get its number, and receive output meant for people.
///
/// The replacements are opened for the wrong direction, so that reading and writing fail as if they
/// were closed.
public func reserveStandardStreams() {
  for number in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] where fcntl(number, F_GETFD) < 0 {
    // `open` returns the lowest free number, which is this one.
    _ = open("/dev/null", number == STDIN_FILENO ? O_WRONLY : O_RDONLY)
  }
}
