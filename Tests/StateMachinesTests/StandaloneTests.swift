import Foundation
import TestSupport
import Testing

@Suite("The library alone", .timeLimit(.minutes(10)))
struct StandaloneTests {
  /// Runs a shell's commands in the folder, where nothing can be compiled with the daemon's C libraries:
  /// their headers and the descriptions for pkg-config are hidden.
  private func run(_ commands: String, in folder: TemporaryFolder) throws -> Ended {
    let script = """
      set -e
      mkdir -p "$0/empty"
      for path in /usr/include/libevdev-1.0 /usr/include/systemd /usr/lib/*/pkgconfig \
        /usr/lib/pkgconfig /usr/share/pkgconfig; do
        if [ -d "$path" ]; then mount --bind "$0/empty" "$path"; fi
      done
      for path in /usr/include/yaml.h /usr/include/jansson*.h; do
        if [ -f "$path" ]; then mount --bind /dev/null "$path"; fi
      done
      cd "$0"
      \(commands)
      """
    // A mount namespace of one's own; those who are not root get one with a user namespace.
    let namespaces = getuid() == 0 ? ["--mount"] : ["--mount", "--map-root-user"]
    return try TestSupport.run(
      "/usr/bin/unshare", namespaces + ["/bin/sh", "-c", "exec 2>&1\n" + script, folder.path],
      environment: [
        "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin", "HOME": folder.path,
      ])
  }

  @Test(
    "a package that depends on it by its address builds nothing of the daemon, without C libraries")
  func build() throws {
    let page = try String(contentsOfFile: "\(checkout)/docs/state-machines.md", encoding: .utf8)
    let manifest = try #require(
      page.components(separatedBy: "```swift\n").first { $0.hasPrefix("// swift-tools-version") }
    ).components(separatedBy: "```")[0]
    let folder = try TemporaryFolder()
    let address = try #require(manifest.firstMatch(of: /url: "([^"]*)"/)).1
    for name in ["Sources/Lights", "Tests/LightsTests"] {
      try FileManager.default.createDirectory(
        atPath: "\(folder.path)/\(name)", withIntermediateDirectories: true)
    }
    _ = try folder.write(
      "Package.swift", manifest.replacing(address, with: "file://\(folder.path)/keymoded.git"))
    _ = try folder.write(
      "Sources/Lights/Light.swift",
      """
      import ObservedMachines
      import StateMachines
      func light() -> Bool? {
        ObservedMachine(initial: false) { (state, _: Int) in !state }.state
      }
      """)
    _ = try folder.write(
      "Tests/LightsTests/Tests.swift",
      "import StateMachineTesting\nimport StateMachines\nlet faults: [RulesFault] = []\n")

    // A repository of what is in the checkout now, with the tag of a release.
    let committed = try run(
      """
      git() { command git --git-dir="$0/keymoded.git" --work-tree='\(checkout)' "$@"; }
      git -c init.defaultBranch=main init --quiet
      cd '\(checkout)'
      git add --all .
      git -c user.name=test -c user.email=test@localhost commit --quiet --message now
      git tag 1.0.0
      """, in: folder)
    #expect(committed.status == 0, "\(committed.output)")

    let hidden = try run(
      """
      ! pkg-config --exists libevdev
      ! test -s /usr/include/yaml.h
      ! ls /usr/include/systemd/*
      """, in: folder)
    #expect(hidden.status == 0, "\(hidden.output)")

    let ended = try run("swift build --target LightsTests", in: folder)
    #expect(ended.status == 0, "\(ended.output)")
    #expect(!ended.output.contains("warning:"), "\(ended.output)")
    let built = try FileManager.default.contentsOfDirectory(
      atPath: "\(folder.path)/.build/debug/Modules")
    let sources = "\(checkout)/Sources"
    let ours = try FileManager.default.contentsOfDirectory(atPath: sources)
      .flatMap { try FileManager.default.contentsOfDirectory(atPath: "\(sources)/\($0)") }
    #expect(
      ours.filter { built.contains("\($0).swiftmodule") }.sorted()
        == ["ObservedMachines", "StateMachineTesting", "StateMachines"])
  }
}
