import Foundation
import TestSupport
import Testing

@Suite("keymodectl recipe")
struct RecipeTests {
  private let folder: TemporaryFolder
  private var main: String { "\(folder.path)/k.yaml" }
  private var file: String { "\(main).d/push-to-talk.yaml" }

  init() throws {
    folder = try TemporaryFolder()
    _ = try folder.write("k.yaml", "debounce: 5ms\n")
  }

  private func recipe(_ arguments: String..., environment: [String: String] = [:]) throws -> Ended {
    try run("keymodectl", ["recipe", "--config", main] + arguments, environment: environment)
  }

  private func files() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: "\(main).d").sorted()
  }

  private func text() throws -> String { try String(contentsOfFile: file, encoding: .utf8) }

  @Test("it installs a recipe with a key, replaces it, and removes it")
  func installed() throws {
    let first = try recipe("push-to-talk")
    #expect((first.status, first.output) == (0, "installed '\(file)', with the key Right_Ctrl\n"))
    let shipped = "\(checkout)/data/recipes/push-to-talk.yaml"
    #expect(try text() == String(contentsOfFile: shipped, encoding: .utf8))
    let second = try recipe("push-to-talk", "--key", "right_ctrl")
    #expect(second.output == "installed '\(file)', with the key Right_Ctrl\n")
    #expect(try files() == ["push-to-talk.yaml"])
    let printed = try run("keymoded", "--print-config", "--config", main).output
    #expect(printed.contains("press: [Any+Right_Ctrl]  # \(file)\n"))
    #expect(printed.contains("release: [\"Any+Right_Ctrl release\"]  # \(file)\n"))
    let removed = try recipe("push-to-talk", "--remove")
    #expect((removed.status, removed.output) == (0, "removed '\(file)'\n"))
    #expect(try files() == [])
    let again = try recipe("push-to-talk", "--remove")
    #expect(again.status == 1)
    #expect(
      again.errors
        == "keymodectl: the recipe 'push-to-talk' is not installed: there is no '\(file)'\n")
  }

  @Test("the service may read the file, whatever the umask is")
  func mode() throws {
    let line = "umask 077; exec '\(Place.programs)/keymodectl' recipe panel --config '\(main)'"
    #expect(try run("/bin/sh", "-c", line).status == 0)
    for path in ["\(main).d", "\(main).d/panel.yaml"] {
      let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
      #expect(try #require(mode) & 0o444 == 0o444, "\(path)")
    }
  }

  @Test("what would be invalid, or is unknown, changes nothing")
  func refused() throws {
    #expect(try recipe("push-to-talk", "--key", "F8").status == 0)
    let before = try text()
    func expect(_ status: Int32, _ message: String, _ arguments: String...) throws {
      let ended = try run("keymodectl", ["recipe", "--config", main] + arguments)
      #expect((ended.status, ended.output) == (status, ""), "\(arguments)")
      #expect(ended.errors.contains(message), "\(ended.errors)")
      #expect(try text() == before && files() == ["push-to-talk.yaml"])
    }
    try expect(
      2, "keymodectl: unknown key name 'Rigth_Ctrl'; did you mean Right_Ctrl?\n", "push-to-talk",
      "--key", "Rigth_Ctrl")
    try expect(4, "by default 'Esc' is bound to tapBlankArea; ", "panel", "--key", "Esc")
    try expect(2, "unknown recipe 'panell'; did you mean 'panel'?\n", "panell")
    try expect(2, "recipe takes one name; --key names a key\n", "push-to-talk", "F8")
    let names = "capitals, layers, panel, push-to-mute or push-to-talk"
    try expect(2, "--key needs the name of a recipe: \(names)\n", "--key", "F8")
    try expect(2, "--remove needs the name of a recipe: \(names)\n", "--remove")
    try expect(2, "the recipe 'capitals' has no key\n", "capitals", "--key", "F8")
    try expect(2, "--remove needs no --key\n", "push-to-talk", "--key", "F8", "--remove")
    // Another file may need the names of the one that is to be removed.
    _ = try folder.write("k.yaml", "keyboard: { bindings: { startTalking: [F7] } }\n")
    try expect(
      4,
      "nothing was changed, because the configuration would be invalid:\n\(main):1:25: unknown event",
      "push-to-talk", "--remove")
  }

  @Test("it lists the recipes, in its help too, and needs no right for that")
  func list() throws {
    let list = try run("keymodectl", "recipe")
    #expect((list.status, list.errors) == (0, ""))
    let names = list.output.matches(of: /(?m)^ {2}([a-z-]+) {2}/).map { String($0.1) }
    #expect(names == ["capitals", "layers", "panel", "push-to-mute", "push-to-talk"])
    #expect(
      try run("keymodectl", "recipe", "--help").output.contains("\nRecipes:\n\(list.output)\n"))
  }

  @Test("without the right to write it says which command has it")
  func rights() throws {
    try FileManager.default.createDirectory(atPath: "\(main).d", withIntermediateDirectories: false)
    // The checkout may be where only root has access.
    let place = "\(folder.path)/.build"
    let ended = try run(
      "/bin/sh", "-c",
      """
      chmod 755 '\(folder.path)' '\(main).d'; mkdir '\(place)'; cp -r '\(checkout)/data' '\(folder.path)'
      cp '\(Place.programs)/keymodectl' '\(place)'; chmod -R a+rX '\(place)' '\(folder.path)/data'
      [ "$(id -u)" = 0 ] && set -- setpriv --reuid 65534 --regid 65534 --clear-groups || chmod a-w '\(main).d'
      exec "$@" '\(place)/keymodectl' recipe push-to-talk --key F8 --config '\(main)'
      """)
    #expect((ended.status, ended.output) == (5, ""))
    let words = "recipe push-to-talk --key F8 --config \(main)"
    #expect(
      ended.errors == """
        keymodectl: cannot open '\(main).d/.recipe.new': Permission denied;
        only root may change it: 'sudo keymodectl \(words)'

        """)
  }

  @Test(
    "killed at any call that changes a file, it leaves the old state or the new one, and no draft for long"
  )
  func killed() throws {
    let library = "\(folder.path)/killed.so"
    let source = "\(checkout)/Tests/support/killed_at_call.c"
    let ended = try run("/usr/bin/gcc", "-O2", "-shared", "-fPIC", "-o", library, source)
    try #require(ended.status == 0, "\(ended.errors)")
    for (arguments, before, after) in [
      (["push-to-talk", "--key", "F8"], [nil, "F7"], "F8"),
      (["push-to-talk", "--remove"], ["F7"], nil),
    ] as [([String], [String?], String?)] {
      for old in before {
        var found: Set<String?> = []
        var number = 0
        var status: Int32 = 137
        while status == 137 {
          number += 1
          try? FileManager.default.removeItem(atPath: "\(main).d/push-to-talk.yaml")
          if let old { try #require(try recipe("push-to-talk", "--key", old).status == 0) }
          status =
            try run(
              "keymodectl", ["recipe", "--config", main] + arguments,
              environment: ["LD_PRELOAD": library, "KILLED_AT": "\(number)"]
            ).status
          let checked = try run(
            "keymodectl", "doctor", "--config", main, "--socket-dir", "/nowhere")
          #expect(checked.output.contains("\nok  configuration  valid\n"))
          let key = checked.output.firstMatch(of: /\nok {2}talk key +Any\+(F[0-9])/)
            .map { String($0.1) }
          #expect(key == old || key == after, "at call \(number)")
          found.insert(key)
        }
        #expect(status == 0 && number >= 4, "\(number)")
        #expect(found == [old, after])
        #expect(try recipe("panel").status == 0)
        #expect(try files() == ["panel.yaml"] + (after == nil ? [] : ["push-to-talk.yaml"]))
      }
    }
  }

  @Test("a program that has locked the folder is not disturbed")
  func locked() throws {
    let ended = try run(
      "/bin/sh", "-c",
      """
      mkdir '\(main).d'
      exec flock '\(main).d' '\(Place.programs)/keymodectl' recipe panel --config '\(main)'
      """)
    #expect(ended.status == 1 && ended.errors.contains("another program has locked it\n"))
    #expect(try files() == [])
  }
}
