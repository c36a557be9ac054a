// swift-tools-version: 6.0

import PackageDescription

// Warnings are errors, but not for packages that get this one from its repository: their compiler may
// have new warnings. With tools version 6.2, `.treatAllWarnings(as: .error)` does both.
let warnings: [SwiftSetting] =
  Context.packageDirectory.contains("/checkouts/") ? [] : [.unsafeFlags(["-warnings-as-errors"])]
let settings = warnings + [.enableUpcomingFeature("InternalImportsByDefault")]

/// A module of the project; `imports` are the modules that it may see.
func module(_ name: String, _ imports: [String] = []) -> Target {
  .target(name: name, dependencies: imports.map { .byName(name: $0) }, swiftSettings: settings)
}

func program(_ name: String, _ imports: [String]) -> Target {
  .executableTarget(
    name: name, dependencies: imports.map { .byName(name: $0) }, swiftSettings: settings)
}

func tests(_ name: String, _ imports: [String], goldenFiles: [String] = []) -> Target {
  .testTarget(
    name: name, dependencies: imports.map { .byName(name: $0) }, exclude: goldenFiles,
    swiftSettings: settings)
}

func library(_ name: String, pkgConfig: String, debian: String) -> Target {
  .systemLibrary(name: name, pkgConfig: pkgConfig, providers: [.apt([debian])])
}

let package = Package(
  name: "keymoded",
  products: [
    .executable(name: "keymoded", targets: ["keymoded"]),
    .executable(name: "keymodectl", targets: ["keymodectl"]),
    .library(name: "StateMachines", targets: ["StateMachines", "ObservedMachines"]),
    .library(name: "StateMachineTesting", targets: ["StateMachineTesting"]),
    .library(name: "KeyboardModes", targets: ["KeyboardModes"]),
    .library(name: "Recordings", targets: ["Recordings"]),
    .library(name: "KeymodeClient", targets: ["KeymodeClient"]),
    // For Tests/Fuzzing, which is a package of its own.
    .library(name: "Daemon", targets: ["Configuration", "Daemon", "Linux", "Terminal", "Wire"]),
  ],
  targets: [
    // C libraries as Debian ships them; each is imported by exactly one module. Headers of the kernel
    // and of systemd share definitions, so they are one.
    library("CLibevdev", pkgConfig: "libevdev", debian: "libevdev-dev"),
    library("CLibyaml", pkgConfig: "yaml-0.1", debian: "libyaml-dev"),
    library("CJansson", pkgConfig: "jansson", debian: "libjansson-dev"),
    library("CLinux", pkgConfig: "libsystemd", debian: "libsystemd-dev"),

    // The pure core: no I/O, no clock, no globals.
    module("StateMachines"),
    module("ObservedMachines", ["StateMachines"]),
    module("StateMachineTesting", ["StateMachines"]),
    module("KeyboardModes", ["StateMachines"]),

    // The person at the terminal, the kernel and systemd.
    module("Terminal"),
    module("Linux", ["CLinux", "Terminal"]),

    // What comes from outside and goes there.
    module("Wire", ["CJansson", "KeyboardModes", "StateMachines", "Terminal"]),
    module("Keyboards", ["CLibevdev", "KeyboardModes", "Linux", "Terminal"]),
    module("Recordings", ["KeyboardModes", "Keyboards", "Linux", "Terminal"]),
    module("Configuration", ["CLibyaml", "KeyboardModes", "Keyboards", "Linux", "Terminal"]),

    // What is made of them.
    module("Replay", ["KeyboardModes", "Recordings", "Terminal"]),
    module(
      "Daemon",
      ["Configuration", "KeyboardModes", "Keyboards", "Linux", "Recordings", "Terminal", "Wire"]),
    module("KeymodeClient", ["KeyboardModes", "Linux", "Terminal", "Wire"]),
    module(
      "Acting", ["KeyboardModes", "KeymodeClient", "Linux", "StateMachines", "Terminal", "Wire"]),
    program("keymoded", ["Configuration", "Daemon", "Linux", "Recordings", "Terminal", "Wire"]),
    program(
      "keymodectl",
      [
        "Acting", "Configuration", "KeyboardModes", "Keyboards", "KeymodeClient", "Linux",
        "Recordings", "Replay", "StateMachines", "Terminal", "Wire",
      ]),

    // Packages of their own, under examples; here they are for the tests.
    .executableTarget(
      name: "chat", dependencies: ["KeymodeClient"], path: "examples/chat/Sources/chat",
      swiftSettings: settings),
    .executableTarget(
      name: "follow", dependencies: ["KeymodeClient"], path: "examples/follow/Sources/follow",
      swiftSettings: settings),

    .target(name: "TestSupport", path: "Tests/TestSupport", swiftSettings: settings),
    tests(
      "StateMachinesTests",
      ["KeyboardModes", "ObservedMachines", "StateMachineTesting", "StateMachines", "TestSupport"],
      goldenFiles: ["Diagrams"]),
    tests(
      "KeyboardModesTests", ["KeyboardModes", "Keyboards", "StateMachines", "TestSupport"],
      goldenFiles: ["Keys.txt"]),
    tests("TerminalTests", ["Terminal"]),
    tests("LinuxTests", ["CLinux", "Linux", "Terminal", "TestSupport"]),
    tests("WireTests", ["KeyboardModes", "Wire"]),
    tests(
      "KeyboardsTests", ["Configuration", "KeyboardModes", "Keyboards", "Linux", "TestSupport"]),
    tests(
      "RecordingsTests",
      ["KeyboardModes", "Keyboards", "Linux", "Recordings", "Terminal", "TestSupport"],
      goldenFiles: ["Recordings"]),
    tests(
      "ConfigurationTests",
      ["Configuration", "KeyboardModes", "Keyboards", "Linux", "Terminal", "TestSupport"],
      goldenFiles: ["Bad.txt"]),
    tests("ReplayTests", ["KeyboardModes", "Recordings", "Replay", "TestSupport"]),
    tests(
      "DaemonTests",
      [
        "Configuration", "Daemon", "KeyboardModes", "Keyboards", "Linux", "Terminal", "TestSupport",
        "Wire",
      ]),
    tests(
      "ActingTests",
      [
        "Acting", "KeyboardModes", "KeymodeClient", "Linux", "StateMachines", "Terminal",
        "TestSupport", "Wire",
      ]),
    tests("ChatTests", ["KeyboardModes", "KeymodeClient", "Wire", "chat"]),
    tests(
      "ProgramTests",
      [
        "Acting", "KeymodeClient", "Linux", "Terminal", "TestSupport", "Wire", "chat", "follow",
        "keymodectl", "keymoded",
      ],
      goldenFiles: ["Malformed.expected"]),
  ]
)
