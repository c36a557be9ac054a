import Glibc

/// Runs a program until it ends. Its standard input is `input`, and its standard error that of this
/// process.
///
/// - Parameter arguments: the program, which is looked for in `PATH`, and its arguments.
/// - Returns: what the program wrote to standard output, and its exit status, which is 128 and the
///   signal's number if a signal ended it.
/// - Throws: the error of `posix_spawnp`, such as that there is no such program.
public func run(
  _ arguments: [String], reading input: String
) throws(SystemError) -> (output: [UInt8], status: Int32) {
  let name = arguments.first ?? ""
  let folder = environment("TMPDIR") ?? "/tmp"
  let source = try FileDescriptor.unnamed(in: folder)
  let target = try FileDescriptor.unnamed(in: folder)
  try writeAll(Array(input.utf8), to: source.number, "a temporary file")
  _ = try retrying("read", "a temporary file") { lseek(source.number, 0, SEEK_SET) }

  var actions = posix_spawn_file_actions_t()
  posix_spawn_file_actions_init(&actions)
  defer { posix_spawn_file_actions_destroy(&actions) }
  posix_spawn_file_actions_adddup2(&actions, source.number, STDIN_FILENO)
  posix_spawn_file_actions_adddup2(&actions, target.number, STDOUT_FILENO)
  var attributes = posix_spawnattr_t()
  posix_spawnattr_init(&attributes)
  defer { posix_spawnattr_destroy(&attributes) }
  // A signal that this process ignores would be ignored by the program, too.
  var signals = sigset_t()
  sigemptyset(&signals)
  sigaddset(&signals, SIGPIPE)
  posix_spawnattr_setsigdefault(&attributes, &signals)
  posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF))
  var words = arguments.map { strdup($0) } + [nil]
  defer { for word in words { free(word) } }
  expectChildren()
  var process: pid_t = 0
  let code = posix_spawnp(&process, name, &actions, &attributes, &words, environ)
  guard code == 0 else { throw SystemError("run", name, code: code) }

  var status: Int32 = 0
  _ = try retrying("wait for", name) { waitpid(process, &status, 0) }
  let signal = status & 0x7f
  _ = try retrying("read", "a temporary file") { lseek(target.number, 0, SEEK_SET) }
  var output: [UInt8] = []
  while case .bytes = try readSome(from: target.number, upTo: 65536, { output += $0 }) {}
  return (output, signal == 0 ? status >> 8 & 0xff : 128 + signal)
}
