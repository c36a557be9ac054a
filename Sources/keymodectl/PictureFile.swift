import Glibc
import Linux
import Replay
import Terminal

/// The file into which `keymodectl replay --timeline` draws.
struct PictureFile {
  private let path: String

  /// The file at `path`, which is not opened yet.
  ///
  /// - Throws: `UsageError` if its name does not end in `.svg`: it may be a recording, which must not
  ///   be overwritten, or the name of a picture in another format, which image viewers would refuse.
  init(_ path: String) throws(UsageError) {
    guard path.hasSuffix(".svg") else {
      throw UsageError("a timeline is drawn as SVG only: '\(path)' must end in .svg")
    }
    self.path = path
  }

  /// Draws a timeline of these recordings.
  func draw(_ timeline: Timeline, of recordings: [String]) throws(SystemError) {
    let file = try FileDescriptor.opening(path, flags: O_WRONLY | O_CREAT | O_TRUNC, mode: 0o666)
    let names = recordings.map { path in
      path == "-" ? "standard input" : path.split(separator: "/").last.map(String.init) ?? path
    }
    let text = timeline.svg(title: names.joined(separator: ", "))
    try writeAll(Array(text.utf8), to: file.number, path)
  }
}
