import Glibc
import Recordings

/// What is tried, by `KEYMODED_FUZZ_TARGET`: a reader of recordings by the name of its format, or one
/// of the others.
private let attempt: @Sendable ([UInt8]) -> Void = {
  let name = getenv("KEYMODED_FUZZ_TARGET").map { String(cString: $0) } ?? ""
  switch name {
  case "varlink": return attemptVarlink
  case "configuration": return attemptConfiguration
  case "controller": return attemptController
  case "store": return attemptStore
  default:
    guard let format = RecordingFormat(rawValue: name) else {
      fatalError("KEYMODED_FUZZ_TARGET names nothing to try: '\(name)'")
    }
    return { attemptRecording($0, format) }
  }
}()

/// Ends the attempt where something is not as it must be. `precondition` would not say what, since
/// what is tried is optimized.
func require(
  _ holds: Bool, _ message: @autoclosure () -> String = "it does not hold",
  file: StaticString = #fileID, line: UInt = #line
) {
  if !holds { fatalError(message(), file: file, line: line) }
}

/// Tries one input. The README says what has to hold.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ bytes: UnsafeRawPointer, _ count: Int) -> Int32 {
  attempt(Array(UnsafeRawBufferPointer(start: bytes, count: count)))
  return 0
}

/// The program: SwiftPM makes its `main` this function. libFuzzer has a `main` that does the same,
/// but only SwiftPM 6.1 and newer can be told to use it.
@_cdecl("Fuzz_main")
public func main(_ count: Int32, _ arguments: Arguments) -> Int32 {
  var (count, arguments) = (count, arguments)
  return runFuzzer(&count, &arguments, fuzz)
}

/// The arguments of the command line, as C has them.
public typealias Arguments = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>

@_silgen_name("LLVMFuzzerRunDriver")
private func runFuzzer(
  _ count: UnsafeMutablePointer<Int32>, _ arguments: UnsafeMutablePointer<Arguments>,
  _ attempt: @convention(c) (UnsafeRawPointer, Int) -> Int32
) -> Int32
