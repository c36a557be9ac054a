import Glibc
import KeyboardModes

@testable import EventRecordings

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

/// Reads `bytes` as a recording, strictly and leniently, and replays it; each with the fast path of the
/// format and without.
func attemptRecording(_ bytes: [UInt8], _ format: RecordingFormat) {
  ftruncate(memory, 0)
  pwrite(memory, bytes, bytes.count, 0)
  let readings = [false, true].map { isLenient in
    let reading = Reading(format, isLenient: isLenient, hasFastPath: true)
    let slow = Reading(format, isLenient: isLenient, hasFastPath: false)
    require(reading == slow, "the fast path of \(format) differs from the parser")
    return reading.inputs
  }
  require(
    isContained(readings[0], in: readings[1], format),
    "what a strict reading yields, a lenient one does not")
}

/// All that a recording yields.
private struct Reading: Equatable {
  private(set) var inputs: [RecordedInput] = []
  private var error: RecordingError?
  private var skipped = SkippedFaults()
  private var warnings: Set<RecordingError> = []

  init(_ format: RecordingFormat, isLenient: Bool, hasFastPath: Bool) {
    var controller = Controller()
    var warned: Set<RecordingError> = []
    do throws(RecordingError) {
      let options = ReadingOptions(isLenient: isLenient, hasFastPath: hasFastPath) {
        warned.insert($0)
      }
      var recording = try Recording(opening: [path], format: format, options)
      defer { skipped = recording.skipped }
      while let batch = try recording.next() {
        for input in batch.inputs {
          inputs.append(input)
          controller.take(input.input)
        }
      }
    } catch {
      require(!error.message.isEmpty)
      self.error = error
    }
    warnings = warned
  }
}

/// Whether `few` are among `many`, in the same order. Where devices are merged, what a lenient reading
/// has more of can come before a fault as well as behind it.
private func isContained(
  _ few: [RecordedInput], in many: [RecordedInput], _ format: RecordingFormat
) -> Bool {
  guard format == .libinput else { return many.starts(with: few) }
  var rest = few[...]
  for input in many where input == rest.first { rest.removeFirst() }
  return rest.isEmpty
}
