// swift-tools-version: 6.0

import PackageDescription

// `name` makes the name of the checkout's folder irrelevant.
let package = Package(
  name: "chat",
  dependencies: [.package(name: "keymoded", path: "../..")],
  targets: [
    .executableTarget(
      name: "chat", dependencies: [.product(name: "KeymodeClient", package: "keymoded")])
  ]
)
