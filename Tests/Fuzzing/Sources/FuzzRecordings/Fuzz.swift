import EventRecordings
import Glibc
import KeyboardModes

/// The reader that is tried, by `KEYMODED_FUZZ_FORMAT`; without it, the one that is found by content.
private let format = getenv("KEYMODED_FUZZ_FORMAT").flatMap {
  RecordingFormat(rawValue: String(cString: $0))
}

/// One file in memory for all runs, opened anew by each as any other file would be.
private let memory: Int32 = {
  let folder = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp"
  var template = Array("\(folder)/keymoded-XXXXXX".utf8CString)
  let descriptor = mkstemp(&template)
  precondition(descriptor >= 0, "no file can be made in \(folder)")
  unlink(template)
  return descriptor
}()
private let path = "/proc/self/fd/\(memory)"

/// Reads `bytes` as a recording, strictly and leniently, and replays it.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ bytes: UnsafeRawPointer, _ count: Int) -> Int32 {
  ftruncate(memory, 0)
  pwrite(memory, bytes, count, 0)
  let strict = replay(isLenient: false)
  let lenient = replay(isLenient: true)
  precondition(
    isContained(strict, in: lenient), "what a strict reading yields, a lenient one does not")
  return 0
}

private func replay(isLenient: Bool) -> [RecordedInput] {
  var inputs: [RecordedInput] = []
  var controller = Controller()
  do throws(RecordingError) {
    var recording = try Recording(opening: [path], format: format, isLenient: isLenient)
    while let input = try recording.next() {
      inputs.append(input)
      controller.take(input.input) { _ in }
    }
  } catch {
    precondition(!error.message.isEmpty)
  }
  return inputs
}

/// Whether `few` are among `many`, in the same order. Where devices are merged, what a lenient reading
/// has more of can come before a fault as well as behind it.
private func isContained(_ few: [RecordedInput], in many: [RecordedInput]) -> Bool {
  guard format == .libinput else { return many.starts(with: few) }
  var rest = few[...]
  for input in many where input == rest.first { rest.removeFirst() }
  return rest.isEmpty
}
