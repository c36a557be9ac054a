import Glibc
public import Terminal

/// Runs a program until it ends. Its standard input is `input`, and its standard error that of this
/// process.
///
/// - Parameter arguments: the program, which is looked for in `PATH`, and its arguments.
/// - Returns: what the program wrote to standard output, and its exit status, which is 128 and the
///   signal's number if a signal ended it.
/// - Throws: the error of ``ChildProcess/init(running:in:input:output:)``, such as `ENOENT`.
public func run(
  _ arguments: [String], reading input: String
) throws(SystemError) -> (output: [UInt8], status: Int32) {
  let source = try FileDescriptor.inMemory("input")
  let target = try FileDescriptor.inMemory("output")
  try writeAll(Array(input.utf8), to: source.number, "memory")
  lseek(source.number, 0, SEEK_SET)
  let program = try ChildProcess(
    running: arguments, input: source.number, output: target.number)
  let end = program.end(waiting: true)
  lseek(target.number, 0, SEEK_SET)
  var output: [UInt8] = []
  while case .bytes = try readSome(from: target.number, upTo: 65536, { output += $0 }) {}
  switch end {
  case .exited(let status): return (output, status)
  case .signalled(let signal): return (output, 128 + signal)
  case nil: throw SystemError("wait for", arguments.first, code: ECHILD)
  }
}
