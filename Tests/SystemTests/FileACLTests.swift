import CLinux
import Glibc
import TestSupport
import Testing

@testable import System

@Suite("The ACL of a file")
struct FileACLTests {
  /// What getfacl calls u::rw-,u:1000:rw-,g::rw-,m::rw-,o::---, as the kernel gives it.
  private static let ofOneUser: [UInt8] =
    [2, 0, 0, 0] + [1, 0, 6, 0, 255, 255, 255, 255] + [2, 0, 6, 0, 0xe8, 3, 0, 0]
    + [4, 0, 6, 0, 255, 255, 255, 255] + [16, 0, 6, 0, 255, 255, 255, 255]
    + [32, 0, 0, 0, 255, 255, 255, 255]

  @Test("an ACL has an entry for its user, between those of the owner and the group, and a mask")
  func bytes() {
    var acl = FileACL(mode: 0o140660)
    acl.user = 1000
    #expect(acl.bytes == Self.ofOneUser)
    #expect(FileACL(Self.ofOneUser) == acl)
  }

  @Test("without a user, it has the three entries of a mode")
  func mode() {
    let bytes: [UInt8] =
      [2, 0, 0, 0] + [1, 0, 7, 0, 255, 255, 255, 255] + [4, 0, 5, 0, 255, 255, 255, 255]
      + [32, 0, 1, 0, 255, 255, 255, 255]
    #expect(FileACL(mode: 0o751).bytes == bytes)
    #expect(FileACL(bytes) == FileACL(mode: 0o751))
  }

  @Test("other bytes are no ACL", arguments: [0, 3, 5, 43, 45])
  func invalid(_ count: Int) {
    #expect(FileACL(Array((Self.ofOneUser + [0]).prefix(count))) == nil)
    #expect(FileACL([3] + Self.ofOneUser.dropFirst()) == nil)
  }

  @Test("the kernel takes it for a socket, and a mode is as before once no user is named")
  func kernel() throws {
    let folder = try TemporaryFolder()
    let path = "\(folder.path)/socket"
    let socket = try unixSocket("make", path)
    try bindSocket(socket.number, to: path, "make")
    // The group may do less than the user of the ACL.
    try #require(chmod(path, 0o640) == 0)
    var acl = try FileACL(of: path)
    #expect(acl == FileACL(mode: 0o640))
    acl.user = 1234
    try acl.set(on: path)
    #expect(try FileACL(of: path) == acl)
    acl.user = 1235
    try acl.set(on: path)
    #expect(try FileACL(of: path).user == 1235)
    acl.user = nil
    try acl.set(on: path)
    #expect(try FileACL(of: path) == FileACL(mode: 0o640))
    #expect(getxattr(path, "system.posix_acl_access", nil, 0) == -1)
  }

  @Test("a missing file is an error")
  func missing() {
    #expect { try FileACL(of: "/nowhere/socket") } throws: { error in
      "\(error)" == "cannot look at '/nowhere/socket': No such file or directory"
    }
  }
}
