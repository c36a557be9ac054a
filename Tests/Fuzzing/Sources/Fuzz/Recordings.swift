import Glibc
import KeyboardModes

import Recordings

/// One file in memory for all runs, opened anew by each as any other file would be.
private let memory: Int32 = {
  let folder = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp"
  var template = Array("\(folder)/keymoded-XXXXXX".utf8CString)
  let descriptor = mkstemp(&template)
  require(descriptor >= 0, "no file can be made in \(folder)")
  unlink(template)
  return descriptor
}()
private let path = "/proc/self/fd/\(memory)"

/// Reads `bytes` as a recording, strictly and leniently, and replays it.
func attemptRecording(_ bytes: [UInt8], _ format: RecordingFormat) {
  ftruncate(memory, 0)
  pwrite(memory, bytes, bytes.count, 0)
  require(
    isContained(
      inputs(format, isLenient: false), in: inputs(format, isLenient: true), format),
    "what a strict reading yields, a lenient one does not")
}

/// All inputs that the recording yields.
private func inputs(_ format: RecordingFormat, isLenient: Bool) -> [Controller.Input] {
  var inputs: [Controller.Input] = []
  var controller = Controller()
  do throws(RecordingError) {
    var recording = try Recording(opening: [path], format: format, isLenient: isLenient)
    while let batch = try recording.next() {
      for input in batch.inputs {
        inputs.append(input)
        controller.handle(input)
      }
    }
  } catch {
    require(!error.message.isEmpty)
  }
  return inputs
}

/// Whether `few` are among `many`, in the same order. Where devices are merged, what a lenient reading
/// has more of can come before a fault as well as behind it.
private func isContained(
  _ few: [Controller.Input], in many: [Controller.Input], _ format: RecordingFormat
) -> Bool {
  guard format == .libinput else { return many.starts(with: few) }
  var rest = few[...]
  for input in many where input == rest.first { rest.removeFirst() }
  return rest.isEmpty
}
