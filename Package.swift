// swift-tools-version: 6.0

import PackageDescription

// Warnings are errors, but not for packages that get this one from its repository: their compiler may
// have new warnings. With tools version 6.2, `.treatAllWarnings(as: .error)` does both.
let warnings: [SwiftSetting] =
  Context.packageDirectory.contains("/checkouts/") ? [] : [.unsafeFlags(["-warnings-as-errors"])]
let settings = warnings + [.enableUpcomingFeature("InternalImportsByDefault")]

/// A floor of `Sources`: a folder whose modules import each other, without circles, and modules of the
/// floors below. `scripts/architecture --check` fails where an import leads up.
struct Floor {
  let folder: String

  /// A module of the project; `imports` are the modules that it may see.
  func module(_ name: String, _ imports: [String] = []) -> Target {
    .target(
      name: name, dependencies: imports.map { .byName(name: $0) }, path: path(of: name),
      swiftSettings: settings)
  }

  func program(_ name: String, _ imports: [String]) -> Target {
    .executableTarget(
      name: name, dependencies: imports.map { .byName(name: $0) }, path: path(of: name),
      swiftSettings: settings)
  }

  func library(_ name: String) -> Target { .systemLibrary(name: name, path: path(of: name)) }

  private func path(of name: String) -> String { "Sources/\(folder)/\(name)" }
}

let rules = Floor(folder: "Rules")
let system = Floor(folder: "System")
let input = Floor(folder: "Input")
let service = Floor(folder: "Service")
let use = Floor(folder: "Use")
let programs = Floor(folder: "Programs")

func tests(_ name: String, _ imports: [String], goldenFiles: [String] = []) -> Target {
  .testTarget(
    name: name, dependencies: imports.map { .byName(name: $0) }, exclude: goldenFiles,
    swiftSettings: settings)
}

let package = Package(
  name: "keymoded",
  // For the library of state machines, which needs clocks; the rest runs on Linux only.
  platforms: [.macOS(.v13), .iOS(.v16), .tvOS(.v16), .watchOS(.v9)],
  products: [
    .executable(name: "keymoded", targets: ["keymoded"]),
    .executable(name: "keymodectl", targets: ["keymodectl"]),
    .library(name: "StateMachines", targets: ["StateMachines", "ObservedMachines"]),
    .library(name: "StateMachineTesting", targets: ["StateMachineTesting"]),
    .library(name: "KeyboardModes", targets: ["KeyboardModes"]),
    .library(name: "Recordings", targets: ["Recordings"]),
    .library(name: "KeymodeClient", targets: ["KeymodeClient"]),
    // For Tests/Fuzzing, which is a package of its own.
    .library(name: "Daemon", targets: ["Configuration", "Daemon", "System", "Terminal", "Wire"]),
  ],
  targets: [
    // C libraries as Debian ships them; each is imported by exactly one module. Headers of the kernel
    // and of systemd share definitions, so they are one. With `pkgConfig`, SwiftPM would ask for all of
    // them wherever a package needs only the library for state machines, and warn that they are missing.
    system.library("CLibevdev"),
    system.library("CLibyaml"),
    system.library("CJansson"),
    system.library("CLinux"),

    // The pure core: no I/O, no clock, no globals.
    rules.module("StateMachines"),
    rules.module("ObservedMachines", ["StateMachines"]),
    rules.module("StateMachineTesting", ["StateMachines"]),
    rules.module("KeyboardModes", ["StateMachines"]),

    // The person at the terminal, the kernel and systemd.
    system.module("System", ["CLinux"]),
    system.module("Terminal", ["System"]),

    // What comes from outside and goes there.
    service.module("Wire", ["CJansson", "KeyboardModes", "StateMachines", "System", "Terminal"]),
    input.module("Keyboards", ["CLibevdev", "KeyboardModes", "System", "Terminal"]),
    input.module("Recordings", ["KeyboardModes", "Keyboards", "System", "Terminal"]),
    input.module(
      "Configuration", ["CLibyaml", "KeyboardModes", "Keyboards", "System", "Terminal"]),

    // What is made of them.
    use.module("Replay", ["KeyboardModes", "Recordings", "Terminal"]),
    service.module(
      "Daemon",
      ["Configuration", "KeyboardModes", "Keyboards", "System", "Recordings", "Terminal", "Wire"]),
    service.module("KeymodeClient", ["KeyboardModes", "System", "Terminal", "Wire"]),
    use.module(
      "Session", ["KeyboardModes", "KeymodeClient", "System", "StateMachines", "Terminal", "Wire"]),
    programs.program(
      "keymoded", ["Configuration", "Daemon", "System", "Recordings", "Terminal", "Wire"]),
    programs.program(
      "keymodectl",
      [
        "Session", "Configuration", "KeyboardModes", "Keyboards", "KeymodeClient", "System",
        "Recordings", "Replay", "StateMachines", "Terminal", "Wire",
      ]),

    // Packages of their own, under examples; here they are for the tests.
    .executableTarget(
      name: "chat", dependencies: ["KeymodeClient"], path: "examples/chat/Sources/chat",
      swiftSettings: settings),
    .executableTarget(
      name: "follow", dependencies: ["KeymodeClient"], path: "examples/follow/Sources/follow",
      swiftSettings: settings),

    .target(
      name: "TestSupport", dependencies: ["KeyboardModes"], path: "Tests/TestSupport",
      swiftSettings: settings),
    tests(
      "StateMachinesTests",
      ["KeyboardModes", "ObservedMachines", "StateMachineTesting", "StateMachines", "TestSupport"],
      goldenFiles: ["Diagrams"]),
    tests(
      "KeyboardModesTests",
      ["Configuration", "KeyboardModes", "Keyboards", "StateMachines", "TestSupport"],
      goldenFiles: ["Keys.txt"]),
    tests("TerminalTests", ["Terminal"]),
    tests("SystemTests", ["CLinux", "System", "Terminal", "TestSupport"]),
    tests("WireTests", ["KeyboardModes", "TestSupport", "Wire"]),
    tests(
      "KeyboardsTests", ["Configuration", "KeyboardModes", "Keyboards", "System", "TestSupport"]),
    tests(
      "RecordingsTests",
      ["KeyboardModes", "Keyboards", "System", "Recordings", "Terminal", "TestSupport"],
      goldenFiles: ["Recordings"]),
    tests(
      "ConfigurationTests",
      ["Configuration", "KeyboardModes", "Keyboards", "System", "Terminal", "TestSupport"],
      goldenFiles: ["Bad.txt"]),
    tests("ReplayTests", ["KeyboardModes", "Recordings", "Replay", "TestSupport"]),
    tests(
      "DaemonTests",
      [
        "Configuration", "Daemon", "KeyboardModes", "Keyboards", "System", "Terminal",
        "TestSupport",
        "Wire",
      ]),
    tests(
      "SessionTests",
      [
        "Session", "KeyboardModes", "KeymodeClient", "System", "StateMachines", "Terminal",
        "TestSupport", "Wire",
      ]),
    tests("ChatTests", ["KeyboardModes", "KeymodeClient", "Wire", "chat"]),
    tests(
      "ProgramTests",
      [
        "Session", "KeymodeClient", "System", "Terminal", "TestSupport", "Wire", "chat", "follow",
        "keymodectl", "keymoded",
      ],
      goldenFiles: ["Malformed.expected"]),
  ]
)
