import KeymodedConfiguration
import SystemCalls
import Testing

@testable import KeymodedService

@Suite("Configuration store")
struct ConfigurationStoreTests {
  private let memory: SharedMemory

  init() throws { memory = try SharedMemory(name: "test", size: ConfigurationStore.size) }

  private func text(_ number: Int, length: Int = 10) -> [UInt8] {
    [UInt8](repeating: UInt8(number), count: length)
  }

  @Test("a new store is empty, and then holds the latest text of any length")
  func last() {
    #expect(ConfigurationStore(memory).read() == nil)
    for (number, length) in [0, 1, 7, 8, Configuration.sizeLimit, 0, 100].enumerated() {
      ConfigurationStore(memory).keep(text(number, length: length))
      #expect(ConfigurationStore(memory).read() == text(number, length: length))
    }
  }

  @Test("storing the same text again writes nothing")
  func same() {
    let store = ConfigurationStore(memory)
    store.keep(text(1))
    let before = Array(memory.bytes)
    store.keep(text(1))
    #expect(memory.bytes.elementsEqual(before))
  }

  @Test("after a write that stopped at any byte, the previous text is read")
  func torn() throws {
    let store = ConfigurationStore(memory)
    store.keep(text(1))
    store.keep(text(2))
    let before = Array(memory.bytes)
    store.keep(text(3))
    let after = Array(memory.bytes)
    let written = before.indices.filter { before[$0] != after[$0] }
    #expect(written.count > 10)
    memory.bytes.copyBytes(from: before)
    for index in written {
      #expect(ConfigurationStore(memory).read() == text(2))
      memory.bytes[index] = after[index]
    }
    #expect(ConfigurationStore(memory).read() == text(3))
  }

  @Test(
    "a text with an impossible length is not read",
    arguments: [UInt64(Configuration.sizeLimit + 9), .max, 1 << 63])
  func impossible(_ length: UInt64) {
    ConfigurationStore(memory).keep(text(1))
    for copy in [0, ConfigurationStore.size / 2] {
      memory.bytes.storeBytes(of: length, toByteOffset: copy + 16, as: UInt64.self)
    }
    #expect(ConfigurationStore(memory).read() == nil)
  }
}
