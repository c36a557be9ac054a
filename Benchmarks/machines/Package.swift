// swift-tools-version: 6.0

import PackageDescription

let package = Package(
  name: "machines",
  dependencies: [.package(name: "keymoded", path: "../..")],
  targets: [
    .executableTarget(
      name: "machines", dependencies: [.product(name: "StateMachines", package: "keymoded")])
  ]
)
