import Glibc

/// Replaces this process by a program, which reads `input` as its standard input. It keeps the other
/// streams, so what it writes and its exit status are those of this process.
///
/// - Parameter arguments: the program, which is looked for in `PATH`, and its arguments.
/// - Throws: the error of `execvp`, such as that there is no such program.
public func become(_ arguments: [String], reading input: String) throws(SystemError) -> Never {
  let name = arguments.first ?? ""
  let file = try FileDescriptor.unnamed(in: environment("TMPDIR") ?? "/tmp")
  try writeAll(Array(input.utf8), to: file.number, "a temporary file")
  try retrying("read", "a temporary file") { lseek(file.number, 0, SEEK_SET) }
  try retrying("read", "a temporary file") { dup2(file.number, STDIN_FILENO) }
  // An ignored signal would stay ignored.
  signal(SIGPIPE, SIG_DFL)
  var words: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) } + [nil]
  execvp(name, &words)
  throw .last("run", name)
}
