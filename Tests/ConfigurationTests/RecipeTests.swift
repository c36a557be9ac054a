import Configuration
import Foundation
import TestSupport
import Testing

@Suite("Recipes")
struct RecipeTests {
  private static let machine = Recipe(
    name: "talk",
    text: """
      # Hold F9 to talk. F90 and KEY_F9 are other names.
      machines:
        talk:
          rows:
            silent: { press: talking }
            talking: { release: silent, gone: silent }
          bindings:
            press: [Any+F9]
            release: [Any+F9 release]
            gone: [Any+F9 gone, F9]
      """)

  @Test(
    "a key replaces the recipe's, behind 'Any+' too, and a chord replaces both",
    arguments: [
      (nil, "Hold F9 ", "Any+F9", "F9"), ("F9", "Hold F9 ", "Any+F9", "F9"),
      ("Right_Ctrl", "Hold Right_Ctrl ", "Any+Right_Ctrl", "Right_Ctrl"),
      ("Ctrl+F9", "Hold Ctrl+F9 ", "Ctrl+F9", "Ctrl+F9"),
      ("Any+F8", "Hold Any+F8 ", "Any+F8", "Any+F8"),
    ] as [(String?, String, String, String)])
  func replaced(_ key: String?, _ comment: String, _ first: String, _ last: String) {
    let text = Self.machine.text(with: key)
    #expect(text.hasPrefix("# \(comment)to talk. F90 and KEY_F9 are other names.\n"))
    for line in [
      "  press: [\(first)]\n", "  release: [\(first) release]\n",
      "  gone: [\(first) gone, \(last)]",
    ] {
      #expect(text.contains(line), "\(text)")
    }
    #expect(text.contains("talking: { release: silent, gone: silent }\n"))
  }

  @Test("the summary is the first sentence, and the key that of the first binding")
  func told() {
    #expect(Self.machine.summary == "Hold F9 to talk.")
    #expect(Self.machine.key == "F9")
    let folded = Recipe(name: "a", text: "# One sentence\n# on two lines, 0.5 s\n\nshift: {}\n# no")
    #expect(folded.summary == "One sentence on two lines, 0.5 s")
    #expect(folded.key == nil && folded.text(with: "F9") == folded.text(with: nil))
  }

  @Test("every recipe is valid as it is and with another key, and says what it does")
  func shipped() throws {
    let recipes = try Recipe.all(in: "\(checkout)/data/recipes")
    #expect(recipes.map(\.name) == ["capitals", "layers", "panel", "push-to-mute", "push-to-talk"])
    for recipe in recipes {
      #expect(recipe.summary.hasSuffix("."))
      for key in [nil, "F24", "Ctrl+Space"] {
        let text = recipe.text(with: key)
        if let key, recipe.key != nil { #expect(text.contains(key)) }
        _ = try Configuration(parsing: Array(text.utf8), file: recipe.name)
      }
    }
  }

  @Test(
    "a key is named as a configuration names it, or refused with the error that it would get",
    arguments: [
      ("right_ctrl", "Right_Ctrl"), ("KEY_F9", "F9"), ("ctrl + space", "Ctrl+Space"),
      ("BTN_SIDE", "BTN_SIDE"), ("esc", "Esc"),
      ("Right_Ctrll", "unknown key name 'Right_Ctrll'; did you mean Right_Ctrl?"),
      ("Shift", "Shift cannot be bound: it belongs to the Shift machine"),
      ("F9 release", "'F9 release' is neither a key, such as F9, nor a chord, such as Ctrl+Space"),
      ("F9, F10", "'F9, F10' is neither a key, such as F9, nor a chord, such as Ctrl+Space"),
      ("\"]}", "unknown key name '\"]}'; 'keymodectl keys' shows the name of a key that you press"),
      ("", "a key is missing"),
    ])
  func keyNames(_ written: String, _ expected: String) {
    let result = Result { try Recipe.name(ofKey: written) }
    switch result {
    case .success(let name): #expect(name == expected)
    case .failure(let error): #expect("\(error)" == expected)
    }
  }

  @Test("a drop-in is put in its place, replaced or left out, and counts with the others")
  func added() throws {
    let folder = try TemporaryFolder()
    let main = try folder.write("k.yaml", "")
    try FileManager.default.createDirectory(
      atPath: "\(main).d", withIntermediateDirectories: false)
    for name in ["a", "c"] { _ = try folder.write("k.yaml.d/\(name).yaml", "# \(name)") }
    func names(_ name: String, _ text: String?) throws -> [String] {
      try ConfigurationText.withDropIns(at: main, if: "\(main).d/\(name).yaml", had: text).map {
        "\($0.name.split(separator: "/").last ?? "") \(String(decoding: $0.bytes, as: UTF8.self))"
      }
    }
    #expect(try names("b", "new") == ["k.yaml ", "a.yaml # a", "b.yaml new", "c.yaml # c"])
    #expect(try names("c", "new") == ["k.yaml ", "a.yaml # a", "c.yaml new"])
    #expect(try names("a", nil) == ["k.yaml ", "c.yaml # c"])
    #expect(throws: ConfigurationErrors.self) {
      try names("b", String(repeating: "#", count: ConfigurationText.sizeLimit))
    }
    for number in 3...100 { _ = try folder.write("k.yaml.d/\(number).yaml", "") }
    #expect(try names("c", "new").count == 101)
    #expect(throws: ConfigurationErrors.self) { try names("b", "new") }
  }
}
