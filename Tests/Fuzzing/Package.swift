// swift-tools-version: 6.0

import PackageDescription

// Apart from the package itself, because it is built with sanitizers: see the README beside it.
let package = Package(
  name: "fuzzing",
  dependencies: [.package(name: "keymoded", path: "../..")],
  targets: [
    .executableTarget(
      name: "Fuzz",
      dependencies: [
        .product(name: "Daemon", package: "keymoded"),
        .product(name: "KeyboardModes", package: "keymoded"),
        .product(name: "Recordings", package: "keymoded"),
      ],
      swiftSettings: [.unsafeFlags(["-parse-as-library"])])
  ]
)
