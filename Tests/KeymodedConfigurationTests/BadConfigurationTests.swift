import Foundation
import KeymodedConfiguration
import Testing

/// Each file in `Bad` that ends in `.yaml`, with what is said of it in a file beside it.
@Suite("A bad configuration")
struct BadConfigurationTests {
  private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appendingPathComponent("Bad")

  private static let names: [String] = {
    let files = try? FileManager.default.contentsOfDirectory(atPath: folder.path)
    return (files ?? []).filter { $0.hasSuffix(".yaml") }.sorted()
  }()

  @Test("is told of, with all that is wrong and where", arguments: names)
  func told(_ name: String) throws {
    let file = Self.folder.appendingPathComponent(name)
    let expected = file.deletingPathExtension().appendingPathExtension("expected")
    var said = ""
    do {
      _ = try Configuration(parsing: Array(Data(contentsOf: file)), file: name)
    } catch let errors as ConfigurationErrors {
      said = "\(errors)\n"
    }
    if ProcessInfo.processInfo.environment["REMAKE_EXPECTATIONS"] != nil {
      try said.write(to: expected, atomically: true, encoding: .utf8)
      Issue.record("\(name).expected was made anew: look at it")
    }
    #expect(try String(contentsOf: expected, encoding: .utf8) == said)
    #expect(said.split(separator: "\n").allSatisfy { $0.hasPrefix("\(name):") })
  }

  @Test("is one of many")
  func many() {
    #expect(Self.names.count >= 40)
  }

  @Test("is also one that is too large")
  func tooLarge() throws {
    let file = FileManager.default.temporaryDirectory
      .appendingPathComponent("keymoded-\(UUID().uuidString).yaml")
    try Data(repeating: UInt8(ascii: "#"), count: Configuration.sizeLimit + 1).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    #expect {
      try Configuration.load(file.path)
    } throws: { error in
      "\(error)" == "\(file.path): larger than 1 MiB"
    }
  }
}
