// swift-tools-version: 6.0

import PackageDescription

// `name` makes the name of the checkout's folder irrelevant.
let package = Package(
  name: "follow",
  dependencies: [.package(name: "keymoded", path: "../..")],
  targets: [
    .executableTarget(
      name: "follow", dependencies: [.product(name: "KeymodeClient", package: "keymoded")])
  ]
)
