import Glibc

/// Keeps the numbers of standard input, output and error for these, where whoever started the program
/// closed one of them: a socket with such a number would be sent what is meant for people.
///
/// What takes their place cannot be used, so that reading and writing fail as if they were closed.
public func reserveStandardStreams() {
  for number in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] where fcntl(number, F_GETFD) < 0 {
    // The lowest number that is free is this one.
    _ = open("/dev/null", number == STDIN_FILENO ? O_WRONLY : O_RDONLY)
  }
}
