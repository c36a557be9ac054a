import Foundation
import TestSupport

/// Modules of the library, compiled in a folder of their own, for programs that see only what is
/// public.
struct CompiledModules {
  let folder: TemporaryFolder
  private let names: [String]

  /// Compiles modules in the language mode of the project.
  ///
  /// - Parameter names: each after those that it imports.
  init(_ names: [String] = ["StateMachines"]) throws {
    folder = try TemporaryFolder()
    self.names = names
    for name in names {
      let sources = try FileManager.default.contentsOfDirectory(
        atPath: "\(checkout)/Sources/Rules/\(name)"
      ).filter { $0.hasSuffix(".swift") }.map { "\(checkout)/Sources/Rules/\(name)/\($0)" }
      let flags = ["-emit-module", "-emit-library", "-static", "-o", "lib\(name).a", "-I."]
      let ended = try swiftc(["-module-name", name] + flags + sources)
      guard ended.status == 0 else { throw CompilerFailure(errors: ended.errors) }
    }
  }

  /// Compiles `source` as a module of its own; warnings are errors.
  ///
  /// - Parameter output: the name of the program to build in the folder; `nil` to check the types
  ///   only.
  func compile(_ source: String, to output: String? = nil) throws -> Ended {
    let file = try folder.write("main.swift", source)
    let what = output.map { names.reversed().map { "-l\($0)" } + ["-o", $0] } ?? ["-typecheck"]
    return try swiftc(
      ["-module-name", "user", "-warnings-as-errors", "-I.", "-L."] + what + [file])
  }

  private func swiftc(_ arguments: [String]) throws -> Ended {
    let command = "cd \"$0\" && exec swiftc -swift-version 6 \"$@\""
    return try run(
      "/bin/sh", ["-c", command, folder.path] + arguments,
      environment: ["PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"])
  }
}

/// The errors with which the compiler refused a module of the library.
struct CompilerFailure: Error { let errors: String }
