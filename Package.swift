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
    .library(name: "EventRecordings", targets: ["EventRecordings"]),
    .library(name: "KeymodeClient", targets: ["KeymodeClient"]),
    // For Tests/Fuzzing, which is a package of its own.
    .library(
      name: "KeymodedService",
      targets: [
        "JSON", "KeymodeInterface", "KeymodedConfiguration", "KeymodedService", "SystemCalls",
        "Systemd", "Varlink",
      ]),
  ],
  targets: [
    // C libraries as Debian ships them; each is imported by exactly one module.
    library("CLibevdev", pkgConfig: "libevdev", debian: "libevdev-dev"),
    library("CLibsystemd", pkgConfig: "libsystemd", debian: "libsystemd-dev"),
    library("CLibyaml", pkgConfig: "yaml-0.1", debian: "libyaml-dev"),
    library("CJansson", pkgConfig: "jansson", debian: "libjansson-dev"),
    .systemLibrary(name: "CLinux"),

    // The pure core: no I/O, no clock, no globals.
    module("StateMachines"),
    module("ObservedMachines", ["StateMachines"]),
    module("StateMachineTesting", ["StateMachines"]),
    module("KeyboardModes", ["StateMachines"]),

    // Formats: bytes in, values out.
    module("JSON", ["CJansson"]),
    module("YAML", ["CLibyaml"]),
    module("Varlink", ["JSON"]),
    module("KeymodeInterface", ["JSON", "KeyboardModes", "StateMachines"]),
    module("Timelines", ["KeyboardModes"]),

    // The kernel and systemd.
    module("SystemCalls", ["CLinux"]),
    module("Systemd", ["CLibsystemd", "SystemCalls"]),
    module("Evdev", ["CLibevdev", "KeyboardModes", "SystemCalls"]),
    module("EventRecordings", ["Evdev", "KeyboardModes", "SystemCalls"]),
    module("LinuxInput", ["Evdev", "KeyboardModes", "SystemCalls", "Systemd"]),

    // The daemon and its clients.
    module(
      "KeymodedConfiguration",
      ["Evdev", "KeyboardModes", "LinuxInput", "StateMachines", "SystemCalls", "YAML"]),
    module(
      "KeymodedService",
      [
        "Evdev", "EventRecordings", "JSON", "KeyboardModes", "KeymodeInterface",
        "KeymodedConfiguration", "LinuxInput", "SystemCalls", "Systemd", "Varlink",
      ]),
    module(
      "KeymodeClient", ["JSON", "KeyboardModes", "KeymodeInterface", "SystemCalls", "Varlink"]),
    module("CommandLineTools", ["JSON", "SystemCalls"]),
    program(
      "keymoded",
      [
        "CommandLineTools", "EventRecordings", "KeymodeInterface", "KeymodedConfiguration",
        "KeymodedService", "SystemCalls",
      ]),

    // The commands of keymodectl.
    module(
      "Replaying",
      ["EventRecordings", "JSON", "KeyboardModes", "KeymodeInterface", "SystemCalls", "Timelines"]),
    module(
      "KeyRecording",
      ["Evdev", "EventRecordings", "KeyboardModes", "LinuxInput", "SystemCalls", "Systemd"]),
    module(
      "PressedKeys", ["Evdev", "KeyboardModes", "LinuxInput", "SystemCalls", "Systemd"]),
    module(
      "Watching",
      [
        "CommandLineTools", "JSON", "KeyboardModes", "KeymodeClient", "KeymodeInterface",
        "SystemCalls",
      ]),
    module(
      "Acting",
      [
        "KeyboardModes", "KeymodeClient", "KeymodeInterface", "StateMachines", "SystemCalls",
        "Systemd", "Watching",
      ]),
    program(
      "keymodectl",
      [
        "Acting", "CommandLineTools", "EventRecordings", "JSON", "KeyRecording", "KeyboardModes",
        "KeymodeClient", "KeymodeInterface", "KeymodedConfiguration", "LinuxInput",
        "PressedKeys", "Replaying", "StateMachines", "SystemCalls", "Systemd",
        "Timelines", "Watching",
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
      [
        "KeyboardModes", "ObservedMachines", "StateMachineTesting", "StateMachines", "TestSupport",
      ],
      goldenFiles: ["Diagrams"]),
    tests(
      "KeyboardModesTests", ["Evdev", "KeyboardModes", "StateMachines", "TestSupport"],
      goldenFiles: ["Keys.txt"]),
    tests(
      "EventRecordingsTests", ["Evdev", "EventRecordings", "KeyboardModes", "TestSupport"],
      goldenFiles: ["Recordings"]),
    tests("JSONTests", ["JSON"]),
    tests("VarlinkTests", ["JSON", "Varlink"]),
    tests(
      "TimelineTests", ["KeyboardModes", "TestSupport", "Timelines"], goldenFiles: ["Pictures"]),
    tests(
      "KeymodedConfigurationTests",
      ["Evdev", "KeyboardModes", "KeymodedConfiguration", "SystemCalls", "TestSupport"],
      goldenFiles: ["Bad.txt"]),
    tests("CommandLineToolsTests", ["CommandLineTools", "SystemCalls"]),
    tests(
      "ActingTests",
      [
        "Acting", "KeyboardModes", "KeymodeClient", "KeymodeInterface",
        "StateMachineTesting", "StateMachines", "SystemCalls", "Systemd", "TestSupport", "Watching",
      ]),
    tests(
      "ReplayingTests",
      [
        "EventRecordings", "KeyboardModes", "Replaying", "SystemCalls", "TestSupport", "Timelines",
      ]),
    tests(
      "KeyRecordingTests",
      ["Evdev", "EventRecordings", "KeyRecording", "KeyboardModes", "SystemCalls", "TestSupport"]),
    tests(
      "WatchingTests",
      ["KeyboardModes", "KeymodeClient", "KeymodeInterface", "SystemCalls", "Watching"]),
    tests(
      "PressedKeysTests",
      ["Evdev", "KeyboardModes", "KeymodedConfiguration", "PressedKeys", "TestSupport"]),
    tests("SystemCallsTests", ["SystemCalls", "TestSupport"]),
    tests("SystemdTests", ["SystemCalls", "Systemd", "TestSupport"]),
    tests(
      "LinuxInputTests",
      ["Evdev", "KeyboardModes", "LinuxInput", "SystemCalls", "Systemd", "TestSupport"]),
    tests(
      "KeymodedServiceTests",
      [
        "JSON", "KeyboardModes", "KeymodeInterface", "KeymodedConfiguration", "KeymodedService",
        "SystemCalls", "Systemd", "TestSupport", "Varlink",
      ]),
    tests("ChatTests", ["KeyboardModes", "KeymodeClient", "KeymodeInterface", "chat"]),
    tests(
      "ProgramTests",
      [
        "Acting", "JSON", "KeyboardModes", "KeymodeClient", "KeymodeInterface", "SystemCalls",
        "Systemd", "TestSupport", "chat", "follow", "keymodectl", "keymoded",
      ],
      goldenFiles: ["Malformed.expected"]),
  ]
)
