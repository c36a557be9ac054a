import Glibc
import System
import Terminal
import TestSupport
import Testing

@testable import Session

@Suite("Acting: the memory of keymodectl shift")
struct CapsLockMemoryTests {
  @Test("the next process has the names, and a second one is refused meanwhile")
  func names() throws {
    let folder = try TemporaryFolder()
    do {
      let memory = try CapsLockMemory(in: folder.path)
      try memory.write(["a", "b"])
      #expect(throws: SystemError.self) { try CapsLockMemory(in: folder.path) }
    }
    let next = try CapsLockMemory(in: folder.path)
    #expect(try next.read() == ["a", "b"])
    try next.write([])
    #expect(try next.read() == [])
  }

  @Test("no link is followed out of the folder, which may be another user's")
  func link() throws {
    let folder = try TemporaryFolder()
    let target = "\(folder.path)/target"
    #expect(symlink(target, "\(folder.path)/ours") == 0)
    #expect(throws: SystemError("open", "\(folder.path)/ours", code: ELOOP)) {
      try CapsLockMemory(in: folder.path)
    }
    #expect(access(target, F_OK) != 0)
  }
}
