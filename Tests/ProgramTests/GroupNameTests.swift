import Foundation
import Synchronization
import TestSupport
import Testing

@testable import KeymodeClient

@Suite("The group of a socket")
struct GroupNameTests {
  @Test(
    "its name is that of its own group while other threads ask for others",
    .enabled(if: geteuid() == 0, "only root may give files to other groups"))
  func threads() throws {
    let folder = try TemporaryFolder()
    let names = ["root", "daemon", "tty", "nogroup"]
    let paths = try names.map { try folder.write($0, "") }
    for (name, path) in zip(names, paths) {
      let group = try #require(getgrnam(name)).pointee.gr_gid
      try #require(chown(path, 0, group) == 0 && chmod(path, 0o660) == 0)
    }
    let wrong = Mutex(0)
    DispatchQueue.concurrentPerform(iterations: 8) { number in
      for _ in 0..<3000 where groupName(ofSocket: paths[number % 4]) != names[number % 4] {
        wrong.withLock { $0 += 1 }
      }
    }
    #expect(wrong.withLock { $0 } == 0)
    try #require(chmod(paths[0], 0o600) == 0)
    #expect(groupName(ofSocket: paths[0]) == nil)
  }
}
