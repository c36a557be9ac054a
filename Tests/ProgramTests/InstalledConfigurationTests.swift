import Foundation
import TestSupport
import Testing

/// A copy of what `make install` takes, which installs into the folder `root` beside it.
struct Installation {
  private let folder: TemporaryFolder
  private let prefix: String

  init(prefix: String) throws { (folder, self.prefix) = (try TemporaryFolder(), prefix) }

  /// Runs a script of a shell beside `root`, in which `act` makes a target. The programs are others.
  func run(_ script: String) throws -> Ended {
    try ProgramTests.run(
      "/bin/sh", "-c",
      """
      set -e; cd '\(checkout)'
      cp -r Makefile data systemd udev '\(folder.path)'; cd '\(folder.path)'
      mkdir -p .build/release
      cp /bin/true .build/release/keymoded; cp /bin/true .build/release/keymodectl
      act() { make --silent "$1" PREFIX=\(prefix) DESTDIR="$PWD/root"; }
      \(script)
      """)
  }
}

@Suite("Installed configuration")
struct InstalledConfigurationTests {
  private let file = "\(checkout)/data/etc/keymoded.yaml"

  /// A setting begins directly after the `#`, or is indented; a sentence has one space before it.
  private func isSetting(_ line: Substring) -> Bool {
    line.hasPrefix("#") && line != "#" && line.wholeMatch(of: /# \S.*/) == nil
  }

  @Test("it has every setting in a comment, with its default")
  func defaults() throws {
    let text = try String(contentsOfFile: file, encoding: .utf8)
    let lines = text.split(separator: "\n")
    #expect(lines.allSatisfy { $0.hasPrefix("#") }, "as it is, it changes nothing")
    let settings = lines.filter(isSetting).map { "\($0.dropFirst())\n" }.joined()
    let folder = try TemporaryFolder()
    let missing = try folder.write("empty.yaml", "")
    #expect(try settings == run("keymoded", "--print-config", "--config", missing).output)
    // With all of its comments it is valid too.
    let uncommented = lines.map { isSetting($0) ? $0.dropFirst() : $0 }.joined(separator: "\n")
    let whole = try folder.write("whole.yaml", uncommented)
    let printed = try run("keymoded", "--print-config", "--config", whole).output
    #expect(printed.replacing("  # \(whole)", with: "") == settings)
    #expect(lines.allSatisfy { $0.count <= 100 })
  }

  @Test("make install does not overwrite a user's file, and make uninstall keeps it")
  func kept() throws {
    let ended = try Installation(prefix: "/usr").run(
      """
      there=root/etc/keymoded/keymoded.yaml
      act install; cmp "$there" data/etc/keymoded.yaml; stat -c %a "$there"
      act install; cmp "$there" data/etc/keymoded.yaml
      act uninstall; test ! -e "$there" && echo removed
      echo 'debounce: 5ms' >"$there"
      act install; cat "$there"
      act uninstall; cat "$there"
      """)
    #expect((ended.status, ended.errors) == (0, ""))
    #expect(ended.lines == ["644", "removed", "debounce: 5ms", "debounce: 5ms"])
  }
}
