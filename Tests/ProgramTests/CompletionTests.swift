import Foundation
import TestSupport
import Testing

/// A shell with the completion files that `make install` installs.
enum CompletingShell: String, CaseIterable {
  case bash, zsh, fish

  /// The completions that the shell offers for each line, without a daemon.
  func completions(of lines: [String]) throws -> [Set<String>] {
    let environment = [
      "PATH": "\(Place.programs):/usr/bin:/bin", "KEYMODED_SOCKET_DIR": "/nowhere",
    ]
    let files = "\(checkout)/data/completions"
    switch self {
    case .bash:
      // Readline splits words at '=' too; `compopt` works only where readline calls.
      let script = """
        . /usr/share/bash-completion/bash_completion
        . '\(files)/keymodectl.bash'; . '\(files)/keymoded.bash'
        compopt() { :; }
        while IFS= read -r COMP_LINE; do
          COMP_POINT=${#COMP_LINE}; COMP_WORDS=(${COMP_LINE//=/ = })
          [[ $COMP_LINE == *[\\ =] ]] && COMP_WORDS+=('')
          COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); COMPREPLY=()
          _${COMP_WORDS[0]}
          echo "${COMPREPLY[*]}"
        done
        """
      let ended = try run(
        "/bin/bash", "-c", script, input: lines.joined(separator: "\n") + "\n",
        environment: environment)
      try #require(ended.errors == "")
      return ended.output.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
        .map { Set($0.split(separator: " ").map(String.init)) }
    case .fish:
      let folder = try TemporaryFolder()
      return try lines.map { line in
        let ended = try run(
          "/usr/bin/fish", "--no-config", "-c",
          "source '\(files)/keymodectl.fish'; source '\(files)/keymoded.fish'; complete -C '\(line)'",
          environment: environment.merging(["HOME": folder.path]) { $1 })
        try #require(ended.errors == "")
        return Set(ended.lines.map { String($0.prefix { $0 != "\t" }) })
      }
    case .zsh:
      let folder = try TemporaryFolder()
      let screen = try TerminalScreen(
        columns: 100, rows: 30,
        environment: ["HOME": folder.path, "KEYMODED_SOCKET_DIR": "/nowhere"],
        shell: "/usr/bin/zsh -f")
      try screen.type(
        "fpath=('\(files)' $fpath); autoload -Uz compinit; compinit -u -D; unsetopt beep; PS1='r> '; clear"
      )
      try screen.wait("a clear screen") { $0 == "r>" }
      return try lines.map { line in
        try screen.write(line)
        try screen.wait("the line") { $0 == "r> \(line)".trimmingCharacters(in: .whitespaces) }
        // Ctrl+D lists the completions without inserting any, unlike Tab.
        try screen.press("C-d")
        try screen.wait("a list") { $0.contains("\n") }
        // After the list the cursor returns to the line.
        try wait(for: "the end of the list") { try screen.property("#{cursor_y}") == "0" }
        let text = try screen.text()
        try screen.press("C-u")
        try screen.press("C-l")
        try screen.wait("a clear screen") { $0 == "r>" }
        return Set(
          text.split(separator: "\n").dropFirst().flatMap { line in
            // Names with the same description are in one line.
            (line.firstRange(of: " -- ").map { line[..<$0.lowerBound] } ?? line)
              .split(separator: " ")
          }.map { $0.trimmingCharacters(in: .whitespaces) })
      }
    }
  }
}

@Suite("Completion")
struct CompletionTests {
  /// The options that a help lists: at the beginning of a line, or after a short form and a comma.
  private func options(_ help: String) -> Set<String> {
    Set(help.matches(of: /(?m)(?:^ {2}|^ {2}-[a-zA-Z], )(--[a-z0-9-]+)/).map { String($0.1) })
  }

  @Test(
    "completion offers exactly the commands and options of --help",
    arguments: CompletingShell.allCases)
  func agreement(_ shell: CompletingShell) throws {
    let lines = ["keymodectl "] + HelpTests.names.map { "keymodectl \($0) --" }
    let found = try shell.completions(of: lines)
    #expect(found.first == Set(HelpTests.names))
    for (command, offered) in zip(HelpTests.names, found.dropFirst()) {
      let help = try run("keymodectl", "help", command).output
      #expect(offered == options(help), "\(command)")
    }
    let daemon = options(try run("keymoded", "--help").output)
    #expect(try shell.completions(of: ["keymoded --"]) == [daemon])
  }

  @Test(
    "completion offers the machines, states, events and formats",
    arguments: CompletingShell.allCases)
  func values(_ shell: CompletingShell) throws {
    let found = try shell.completions(of: [
      "keymodectl state ", "keymodectl --socket-dir /tmp trigger ",
      "keymodectl graph --format ", "keymodectl replay --format=", "keymodectl wait shift=",
      "keymodectl wait keyboard=", "keymodectl wait caps=", "keymodectl while num=",
      "keymodectl recipe ",
    ])
    #expect(found[0] == ["shift", "keyboard", "caps", "num"])
    let help = try run("keymodectl", "--help").output.components(separatedBy: "\n\n")
    let events = try #require(help.first { $0.hasPrefix("Events: ") })
    #expect(found[1] == Set(events.split(separator: /[ \n]+/).dropFirst().map(String.init)))
    func last(_ words: Set<String>) -> Set<String> {
      // fish completes the whole word.
      Set(words.compactMap { $0.split(separator: "=").last.map(String.init) })
    }
    #expect(last(found[2]) == ["dot", "mermaid"])
    #expect(last(found[3]) == ["evemu", "libinput", "evtest", "getevent", "raw64", "raw32"])
    #expect(found[8] == ["capitals", "layers", "panel", "push-to-mute", "push-to-talk"])
    for (words, machine) in zip(found[4...], ["shift", "keyboard", "caps", "num"]) {
      let graph = try run("keymodectl", "graph", machine, "--format", "mermaid").output
      let states = Set(graph.matches(of: /--> ([A-Za-z]+)/).map { String($0.1) })
      #expect(states.count >= 3)
      #expect(last(words) == states)
    }
  }

  @Test("names are those of the daemon, else of the configuration, else the defaults")
  func names() throws {
    let folder = try TemporaryFolder()
    let file = try folder.write("k.yaml", "keyboard:\n\(stickerTable)")
    let nowhere = ["--socket-dir", folder.path]
    func lines(_ arguments: String...) throws -> [String] {
      let ended = try run("keymodectl", ["__names"] + arguments)
      #expect((ended.status, ended.errors) == (0, ""))
      return ended.lines
    }
    #expect(
      try lines("shift", nowhere[0], nowhere[1]) == [
        "off\tafter the start, shiftPressed, characterTyped or shiftUsed",
        "on\tafter shiftPressed or shiftUsed", "capsLock\tafter shiftUsed or shiftPressed",
      ])
    let own = try lines("events", "--config", file, nowhere[0], nowhere[1])
    #expect(own.last == "clickStickerButton\tto showingStickers or editingText")
    #expect(own.count == 7)
    let broken = try folder.write("bad.yaml", "keyboard: 1")
    #expect(try lines("events", "--config", broken, nowhere[0], nowhere[1]).count == 6)
    let daemon = try RunningDaemon.following(
      configuration: "devices: { ignore: [\"*\"] }\nkeyboard:\n\(stickerTable)")
    #expect(try lines("events", "--socket-dir", daemon.folder.path) == own)
    let conditions = try lines("conditions", "--socket-dir", daemon.folder.path)
    #expect(conditions[7] == "keyboard=showingStickers\tafter clickStickerButton")
    #expect(
      conditions[8...].prefix(3) == [
        "caps=unknown\tafter the start or ledGone", "caps=off\tafter ledOff",
        "caps=on\tafter ledOn",
      ])
    #expect(conditions.count == 14)
  }

  @Test("the list of bash has descriptions, and what it inserts has none", arguments: [9, 63])
  func bashDescriptions(_ type: Int) throws {
    let script = """
      . '\(checkout)/data/completions/keymodectl.bash' 2>/dev/null
      COMP_TYPE=\(type); _keymodectl_names events tap; printf '%s\\n' "${COMPREPLY[@]}"
      _keymodectl_names shift caps shift=; printf '%s\\n' "${COMPREPLY[@]}"
      """
    let ended = try run(
      "/bin/bash", "-c", script,
      environment: ["PATH": "\(Place.programs):/usr/bin:/bin", "KEYMODED_SOCKET_DIR": "/nowhere"])
    let (first, second) = type == 63 ? ("  (to editingText)", "  (to prepareToEditText)") : ("", "")
    #expect(ended.lines == ["tapTextField\(first)", "tapBlankArea\(second)", "shift=capsLock"])
  }

  @Test(
    "make install puts completions where the shells look for them",
    arguments: ["/usr", "/usr/local"])
  func installed(_ prefix: String) throws {
    let installation = try Installation(prefix: prefix)
    let ended = try installation.run(
      """
      act install; (cd root && find . -path '*share*' -type f -name '*keymod*' ! -path '*/man/*' | sort)
      act uninstall; find root -type f
      """)
    #expect(ended.status == 0 && ended.errors == "")
    let zsh = prefix == "/usr" ? "vendor-completions" : "site-functions"
    let share = ".\(prefix)/share"
    #expect(
      ended.lines == [
        "\(share)/bash-completion/completions/keymodectl",
        "\(share)/bash-completion/completions/keymoded",
        "\(share)/fish/vendor_completions.d/keymodectl.fish",
        "\(share)/fish/vendor_completions.d/keymoded.fish",
        "\(share)/zsh/\(zsh)/_keymodectl", "\(share)/zsh/\(zsh)/_keymoded",
      ])
    #expect(
      try run("/usr/bin/zsh", "-fc", "print -l $fpath").lines.contains("\(prefix)/share/zsh/\(zsh)")
    )
  }
}
