import Configuration
import Glibc
import System
import Terminal

/// `keymodectl recipe [NAME]`: installs or removes a drop-in; without a name, lists all recipes.
func recipe(_ invocation: Invocation) throws -> Int32 {
  let (arguments, operands) = (invocation.arguments, invocation.operands)
  let recipes = try installedRecipes()
  guard let name = operands.first else {
    for option in ["--key", "--remove"] where arguments.isGiven(option) {
      throw UsageError("\(option) needs the name of a recipe: \(listed(recipes.map(\.name), "or"))")
    }
    try Output.print(recipeList(recipes).fitted)
    return ExitStatus.done
  }
  guard operands.count == 1 else { throw UsageError("recipe takes one name; --key names a key") }
  guard let recipe = recipes.first(where: { $0.name == name }) else {
    throw UsageError(
      "unknown recipe '\(name)'; \(suggestion(for: name, among: recipes.map(\.name)))")
  }
  let key = try arguments["--key"].map(Recipe.name(ofKey:))
  let isRemoval = arguments.has("--remove")
  guard key == nil || !isRemoval else { throw UsageError("--remove needs no --key") }
  guard key == nil || recipe.key != nil else { throw UsageError("the recipe '\(name)' has no key") }
  let folder = "\(arguments["--config"] ?? Configuration.systemPath).d"
  let file = "\(folder)/\(name).yaml"
  let text = isRemoval ? nil : recipe.text(with: key)
  do throws(ConfigurationErrors) {
    let files = try ConfigurationText.withDropIns(at: arguments["--config"], if: file, had: text)
    _ = try Configuration(merging: files) { writeToStandardError("\($0)\n") }
  } catch {
    printToStandardError("nothing was changed, because the configuration would be invalid:")
    throw error
  }
  do throws(SystemError) {
    try replace(file, in: folder, by: text)
  } catch {
    guard error.code != ENOENT || !isRemoval else {
      printToStandardError("the recipe '\(name)' is not installed: there is no '\(file)'")
      return ExitStatus.failed
    }
    guard [EACCES, EPERM].contains(error.code), geteuid() != 0 else { throw error }
    let words = CommandLine.arguments.dropFirst().joined(separator: " ")
    printToStandardError("\(error);\nonly root may change it: 'sudo keymodectl \(words)'")
    return ExitStatus.permissionDenied
  }
  let shown = isRemoval ? "" : (key ?? recipe.key).map { ", with the key \($0)" } ?? ""
  try Output.print("\(isRemoval ? "removed" : "installed") '\(file)'\(shown)")
  guard arguments["--config"] == nil, access("/run/systemd/system", F_OK) == 0 else {
    printToStandardError("a keymoded that runs reads it on SIGHUP")
    return ExitStatus.done
  }
  // systemctl waits until a running service has read the file, and explains a failure.
  return system("systemctl try-reload-or-restart keymoded.service") == 0
    ? ExitStatus.done : ExitStatus.failed
}

/// Writes `text` to a file in a folder, or removes the file if `text` is `nil`. If the program is
/// killed, the file has the old text or the new text. A killed program may leave a draft, which the
/// next call removes. Daemons skip drafts.
private func replace(_ file: String, in folder: String, by text: String?) throws(SystemError) {
  // The service runs as another user, who must be able to read the file whatever root's umask is.
  umask(0o022)
  // Where the configuration was removed, /etc/keymoded is missing too.
  _ = folder.lastIndex(of: "/").map { mkdir(String(folder[..<$0]), 0o755) }
  if mkdir(folder, 0o755) < 0, errno != EEXIST { throw .last("make", folder) }
  // Without the lock, two calls at once could install each other's unfinished draft.
  let lock = try FileDescriptor.opening(folder, flags: O_RDONLY | O_DIRECTORY)
  let number = lock.number
  guard flock(number, LOCK_EX | LOCK_NB) == 0 else {
    throw SystemError("change", folder, code: errno, reason: "another program has locked it")
  }
  let draft = "\(folder)/.recipe.new"
  if unlink(draft) < 0, errno != ENOENT { throw .last("remove", draft) }
  guard let text else { return _ = try retrying("remove", file) { unlink(file) } }
  let output = try FileDescriptor.opening(draft, flags: O_WRONLY | O_CREAT | O_EXCL, mode: 0o644)
  let descriptor = output.number
  do throws(SystemError) {
    try writeAll(Array(text.utf8), to: descriptor, draft)
    try retrying("write", draft) { fsync(descriptor) }
    try retrying("write", file) { rename(draft, file) }
  } catch {
    unlink(draft)
    throw error
  }
}

/// The recipes that are installed with this program; in a build folder, the recipes of the sources.
func installedRecipes() throws(SystemError) -> [Recipe] {
  let program = realpath("/proc/self/exe", nil).map { path in
    defer { free(path) }
    return String(cString: path)
  }
  let parts = program?.split(separator: "/") ?? ["usr", "bin", ""]
  let sources = parts.firstIndex(of: ".build").map { parts[..<$0] + ["data"] }
  let folder = (sources ?? parts.dropLast(2) + ["share", "keymoded"]) + ["recipes"]
  return try Recipe.all(in: folder.map { "/\($0)" }.joined())
}

/// The names of recipes, and what each does.
func recipeList(_ recipes: [Recipe]) -> TerminalText {
  recipes.map { entry($0.name, $0.summary) }.joined(separator: "\n")
}
