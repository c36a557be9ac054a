import Glibc
import SystemCalls
import Timelines

/// The file into which `keymodectl replay --timeline` draws.
struct PictureFile {
  private let path: String

  /// The endings of pictures that are not SVG. A name may have any other ending, or none.
  private static let otherFormats: Set = [
    "bmp", "eps", "gif", "jpeg", "jpg", "pdf", "png", "ps", "svgz", "tif", "tiff", "webp",
  ]

  /// The file at `path`, which may replace an older picture but no other file. It is not opened yet.
  ///
  /// - Throws: `UsageError` if the path has any other file, which may be a recording, or if its name
  ///   is that of a picture in another format, which image viewers would refuse.
  init(_ path: String) throws {
    self.path = path
    let name = path.split(separator: "/").last ?? ""
    let ending = name.split(separator: ".").dropFirst().last?.lowercased() ?? ""
    guard !Self.otherFormats.contains(ending) else {
      throw UsageError(
        "a timeline is drawn as SVG only: '\(path)' must end in .svg, not in .\(ending)")
    }
    var status = stat()
    guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size > 0 else {
      return
    }
    var start = [UInt8](repeating: 0, count: 4)
    let file = try FileDescriptor.opening(path)
    let count = try start.withUnsafeMutableBytes { try file.read(into: $0) }
    guard start[..<count].elementsEqual("<svg".utf8) else {
      throw UsageError("'\(path)' exists and is not an SVG picture; choose another file")
    }
  }

  /// Draws a timeline of these recordings.
  func draw(_ timeline: Timeline, of recordings: [String]) throws {
    let file = try FileDescriptor.opening(path, flags: O_WRONLY | O_CREAT | O_TRUNC, mode: 0o666)
    let names = recordings.map { path in
      path == "-" ? "standard input" : path.split(separator: "/").last.map(String.init) ?? path
    }
    var text = timeline.svg(title: names.joined(separator: ", "))
    try text.withUTF8 { try writeAll(UnsafeRawBufferPointer($0), to: file.number, path) }
  }
}
