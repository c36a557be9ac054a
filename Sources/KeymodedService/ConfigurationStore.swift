import KeymodedConfiguration
import SystemCalls

/// The text of the last good configuration in memory that outlives the daemon. The next daemon uses
/// it if the file is bad by then.
///
/// There are two copies with checksums; each write overwrites the older one.
final class ConfigurationStore {
  private static let layout: UInt64 = 0x6b65_796d_6f63_0001

  /// A copy has four numbers besides the text.
  private static let copySize = Configuration.sizeLimit + 4 * 8

  /// The size of the memory in bytes. The kernel allocates only the pages that are written.
  static let size = 2 * copySize

  private let memory: SharedMemory
  private var generation: UInt64 = 0

  /// A store in memory of the right size.
  init(_ memory: SharedMemory) {
    precondition(memory.bytes.count == Self.size, "memory of another size")
    self.memory = memory
  }

  /// The text that was kept last; `nil` if there is none.
  func read() -> [UInt8]? {
    let copies = [0, 1].compactMap { read($0) }
    guard let newest = copies.max(by: { $0.generation < $1.generation }) else { return nil }
    generation = newest.generation
    return newest.text
  }

  /// Keeps `text`, which has at most ``Configuration/sizeLimit`` bytes.
  func keep(_ text: [UInt8]) {
    // A text that is kept already need not be written again.
    guard read() != text else { return }
    generation &+= 1
    var fields = fields(Int(generation % 2))
    fields.put(Self.layout)
    fields.put(generation)
    fields.put(bytes: text)
    fields.putChecksum()
  }

  private func read(_ index: Int) -> (generation: UInt64, text: [UInt8])? {
    var fields = fields(index)
    guard fields.takeNumber() == Self.layout, let generation = fields.takeNumber(),
      let text = fields.takeBytes(), fields.isWhole()
    else { return nil }
    return (generation, text)
  }

  private func fields(_ index: Int) -> StoredFields {
    StoredFields(memory.bytes[index * Self.copySize..<(index + 1) * Self.copySize])
  }
}
