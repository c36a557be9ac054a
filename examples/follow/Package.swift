// swift-tools-version: 6.2

import PackageDescription

// The folder of a dependency by path is its name; call a checkout of yours as you like.
let package = Package(
  name: "follow",
  dependencies: [.package(name: "keymoded", path: "../..")],
  targets: [
    .executableTarget(
      name: "follow", dependencies: [.product(name: "KeymodeClient", package: "keymoded")])
  ]
)
