import Foundation
import TestSupport
import Testing

/// Commands under `keymodectl while`, run by a real daemon's states.
@Suite("keymodectl while", .timeLimit(.minutes(10)))
struct WhileTests {
  private let daemon: KeptDaemon

  init() throws { daemon = try KeptDaemon() }

  private func enter() throws { try daemon.trigger("tapTextField") }
  private func leave() throws { try daemon.trigger("tapBlankArea") }

  // MARK: - When it runs

  @Test("a command starts on entering, with the state in its environment, and ends on leaving")
  func environment() throws {
    let running = try RunningWhile(
      daemon, shell: "env | sed -n '/^KEYMODE_TIME/d;/^KEYMODE_/p' | sort > log; exec sleep 1000")
    // keymodectl may find the first state; it sees how the second is entered.
    try enter()
    try wait(for: "the command") { running.log.count == 5 }
    try leave()
    try running.awaitNoCommand()
    try enter()
    try wait(for: "the event") { running.log.first == "KEYMODE_EVENT=tapTextField" }
    try wait(for: "the command") { running.log.count == 5 }
    #expect(
      running.log == [
        "KEYMODE_EVENT=tapTextField", "KEYMODE_KEYBOARD=editingText", "KEYMODE_MACHINE=keyboard",
        "KEYMODE_SHIFT=off", "KEYMODE_STATE=editingText",
      ])
    try leave()
    try running.awaitNoCommand()
    #expect(running.errors == "")
  }

  @Test("a command starts in a state that was entered before, without an event")
  func present() throws {
    try enter()
    let running = try RunningWhile(daemon, shell: "echo \"$KEYMODE_EVENT.$KEYMODE_TIME\" >> log")
    try wait(for: "the command") { running.log.count == 1 }
    let time = try RawClient("\(daemon.folder.path)/state.sock")
      .result("org.keymoded.Controller.GetState")["state"]?["keyboardSince"]?.integer
    #expect(time != nil && running.log == time.map { [".\($0)"] })
  }

  @Test("a command runs while each machine is in one of its states")
  func conditions() throws {
    let running = try RunningWhile(
      daemon.folder.path,
      ["shift=on,capsLock", "keyboard=editingText", "--", "sh", "-c", "echo >> log; sleep 1000"])
    try enter()
    #expect(running.command.isEmpty)
    try daemon.trigger("shiftPressed")
    try wait(for: "the command") { running.log.isEmpty == false || running.command.count == 2 }
    let before = running.command
    try daemon.trigger("shiftPressed")
    #expect(running.command == before, "one state of Shift has taken the other's place")
    try daemon.trigger("shiftPressed")
    try running.awaitNoCommand()
  }

  @Test("a command that ends by itself is started again with the next entering only")
  func short() throws {
    let running = try RunningWhile(daemon, shell: "echo ran >> log")
    try enter()
    try running.awaitLog("ran")
    try running.awaitNoCommand()
    try daemon.trigger("shiftPressed")
    try leave()
    try enter()
    try running.awaitLog("ran", "ran")
  }

  @Test("the command's own options and equals signs are not those of keymodectl")
  func options() throws {
    try enter()
    let running = try RunningWhile(
      daemon, ["--once"], shell: "exec env A=b sh -c 'echo \"$A $1 $2\" > log' sh --json shift=on")
    #expect(running.end() == 0)
    #expect(running.log == ["b --json shift=on"])
    let direct = try RunningWhile(
      daemon.folder.path,
      [
        "keyboard=editingText", "--once", "--", "/bin/sh", "-c", "echo \"$@\" > log", "sh", "--",
        "-x",
      ])
    #expect(direct.end() == 0)
    #expect(direct.log == ["-- -x"])
  }

  @Test("a command may have a megabyte of arguments")
  func long() throws {
    try enter()
    let arguments = Array(repeating: String(repeating: "x", count: 100_000), count: 10)
    let running = try RunningWhile(
      daemon.folder.path,
      ["--once", "keyboard=editingText", "--", "/bin/sh", "-c", "echo $# ${#10} > log", "sh"]
        + arguments)
    #expect(running.end() == 0)
    #expect(running.log.first?.hasPrefix("10 ") == true)
  }

  // MARK: - Ending

  @Test("a command that ignores SIGTERM is killed after the grace, with what it started")
  func stubborn() throws {
    let running = try RunningWhile(
      daemon, ["--grace", "100ms"],
      shell: "trap '' TERM; setsid sh -c 'sleep 1000; :' & echo up > log; wait; sleep 1000; :")
    try enter()
    try running.awaitLog("up")
    try leave()
    try running.awaitNoCommand()
  }

  @Test("a stopped command ends without a kill")
  func stopped() throws {
    let running = try RunningWhile(
      daemon, ["--grace", "1000"], shell: "trap 'echo end >> log; exit' TERM; kill -STOP $$; :")
    try enter()
    try wait(for: "a stop") {
      running.command.contains { number in
        let stat = try? String(contentsOfFile: "/proc/\(number)/stat", encoding: .utf8)
        return stat?.contains(" T ") == true
      }
    }
    try leave()
    try running.awaitLog("end")
    try running.awaitNoCommand()
  }

  @Test(
    "what a command leaves behind is ended before it starts again",
    arguments: [
      "sleep 1000 & echo ran >> log", "setsid sleep 1000 & echo ran >> log",
      "(setsid sh -c 'sleep 1000 & sleep 1000 & wait' &) ; echo ran >> log",
      "trap '' TERM; setsid sh -c 'sleep 1000; :' & echo ran >> log",
    ])
  func leftBehind(_ script: String) throws {
    let running = try RunningWhile(daemon, ["--grace", "100ms"], shell: script)
    try enter()
    try running.awaitLog("ran")
    try running.awaitNoCommand()
    try leave()
    try enter()
    try running.awaitLog("ran", "ran")
    try running.awaitNoCommand()
  }

  /// It notes its start and the order to end, and ends once there is a file `go`.
  private static let slow = """
    trap 'echo asked >> log; while [ ! -e go ]; do sleep 0.01; done; echo ended >> log; exit' TERM
    echo started >> log; while :; do sleep 0.01; done
    """

  @Test("states that come back while the command ends start it again after its end")
  func again() throws {
    let running = try RunningWhile(daemon, ["--grace", "1000"], shell: Self.slow)
    try enter()
    try running.awaitLog("started")
    try leave()
    try running.awaitLog("started", "asked")
    for _ in 0..<3 {
      try enter()
      try leave()
    }
    try enter()
    try running.write("go")
    try running.awaitLog("started", "asked", "ended", "started")
  }

  @Test("states that came and went while the command ended count as left")
  func goneAgain() throws {
    let running = try RunningWhile(daemon, ["--grace", "1000"], shell: Self.slow)
    try enter()
    try running.awaitLog("started")
    try leave()
    try running.awaitLog("started", "asked")
    try enter()
    try leave()
    try running.write("go")
    try running.awaitNoCommand()
    try daemon.trigger("shiftPressed")
    #expect(running.log == ["started", "asked", "ended"])
    #expect(running.command.isEmpty)
  }

  @Test("1,000 quick changes start no second command at a time, and miss no final state")
  func quick() throws {
    let running = try RunningWhile(
      daemon, ["--grace", "1000"],
      shell: "flock -n -E 9 lock sleep 1000; [ $? = 9 ] && echo twice >> log")
    let client = try RawClient("\(daemon.folder.path)/control.sock")
    for round in 0..<4 {
      for _ in 0..<125 { try client.trigger(["tapTextField", "tapBlankArea"]) }
      guard round.isMultiple(of: 2) else {
        try running.awaitNoCommand()
        continue
      }
      try enter()
      try wait(for: "the command") { running.command(named: "sleep").count == 1 }
      try leave()
    }
    try running.awaitNoCommand()
    #expect(running.log == [])
    #expect(running.processes.count == 2)
  }

  @Test("a process that a shell starts at the moment of the order to end is asked to end, too")
  func startedMeanwhile() throws {
    // Shells block signals while they start a process, and so take the order alone.
    let shell = """
      import os, signal, time
      block = lambda how: signal.pthread_sigmask(how, [signal.SIGTERM])
      block(signal.SIG_BLOCK)
      open("log", "a").write("up\\n")
      while signal.SIGTERM not in signal.sigpending(): time.sleep(0.01)
      if os.fork() == 0:
        signal.sigwait([signal.SIGTERM])
        open("log", "a").write("asked\\n")
      block(signal.SIG_UNBLOCK)
      """
    let running = try RunningWhile(
      daemon.folder.path,
      ["--grace", "1000", "keyboard=editingText", "--", "/usr/bin/python3", "-c", shell])
    try enter()
    try running.awaitLog("up")
    try leave()
    try running.awaitLog("up", "asked")
    try running.awaitNoCommand()
  }

  @Test("each process is asked to end once, whether in the command's process group or not")
  func askedOnce() throws {
    let member = "trap 'echo asked >> log' TERM; sleep 0.05; echo up >> log"
    let running = try RunningWhile(
      daemon, ["--grace", "1000"],
      shell: """
        (\(member); while [ ! -e go ]; do sleep 0.01; done) &
        setsid sh -c "\(member); while [ ! -e go ]; do sleep 0.01; done" &
        exec sleep 1000
        """)
    try enter()
    try running.awaitLog("up", "up")
    try leave()
    try wait(for: "both") { running.log.count { $0 == "asked" } >= 2 }
    try running.write("go")
    try running.awaitNoCommand()
    #expect(running.log == ["up", "up", "asked", "asked"])
  }

  // MARK: - Violence

  /// A pipeline, a session of its own, and a child that ignores SIGTERM.
  private static let family = """
    setsid sleep 1000 & (trap '' TERM; exec sleep 1000) & sleep 1000 | cat & echo up > log; wait
    """

  @Test("kill -9 of keymodectl leaves nothing")
  func killed() throws {
    let running = try RunningWhile(daemon, ["--grace", "100ms"], shell: Self.family)
    try enter()
    try wait(for: "the family") { running.command(named: "sleep").count == 3 }
    kill(running.number, SIGKILL)
    try running.awaitNothing()
  }

  @Test("kill -9 of the guardian leaves nothing, and keymodectl says so")
  func unguarded() throws {
    let running = try RunningWhile(daemon, shell: Self.family)
    try enter()
    try wait(for: "the family") { running.command(named: "sleep").count == 3 }
    kill(try #require(running.guardian), SIGKILL)
    #expect(running.end() == 1)
    #expect(running.processes == [])
    #expect(
      running.errors == "keymodectl: the guardian of '/bin/sh' was killed; so was the command")
  }

  @Test("kill -9 of both leaves no command")
  func bothKilled() throws {
    let running = try RunningWhile(daemon, shell: "exec sleep 1000")
    try enter()
    try wait(for: "the command") { running.command(named: "sleep").count == 1 }
    let numbers = [running.number, try #require(running.guardian)]
    for number in numbers { kill(number, SIGSTOP) }
    for number in numbers { kill(number, SIGKILL) }
    try running.awaitNothing()
  }

  @Test("a killed daemon ends the command, and its return starts it again")
  func daemonKilled() throws {
    let running = try RunningWhile(
      daemon, shell: "echo started >> log; exec sleep 1000")
    try enter()
    try running.awaitLog("started")
    daemon.kill()
    try running.awaitNoCommand()
    try daemon.start()
    try running.awaitLog("started", "started")
    try wait(for: "the command") { running.command.count == 1 }
  }

  @Test("without a daemon, keymodectl says so once and waits for one")
  func absent() throws {
    daemon.stop()
    let running = try RunningWhile(daemon, shell: "echo ran >> log")
    try wait(for: "a message") { running.errors != "" }
    try daemon.start()
    try enter()
    try running.awaitLog("ran")
    #expect(running.errors.hasPrefix("keymodectl: no keymoded listens on "))
    #expect(running.errors.hasSuffix("\nwaiting for it"))
  }

  // MARK: - Signals and statuses

  @Test(
    "a signal that ends keymodectl ends the command by the same",
    arguments: [("INT", SIGINT), ("TERM", SIGTERM), ("HUP", SIGHUP), ("QUIT", SIGQUIT)])
  func ending(_ name: String, _ signal: Int32) throws {
    let running = try RunningWhile(
      daemon, ["--grace", "1000"],
      shell:
        "trap 'echo \(name) >> log; exit 0' \(name); echo up >> log; while :; do sleep 0.01; done")
    try enter()
    try running.awaitLog("up")
    kill(running.number, signal)
    #expect(running.end() == 128 + signal)
    #expect(running.log == ["up", name])
    try running.awaitNothing()
  }

  @Test("a signal ends keymodectl after the grace, whatever the command does")
  func endingStubborn() throws {
    let running = try RunningWhile(
      daemon, ["--grace", "100ms"],
      shell: "trap '' TERM; echo up >> log; while :; do sleep 0.01; done")
    try enter()
    try running.awaitLog("up")
    kill(running.number, SIGTERM)
    #expect(running.end() == 128 + SIGTERM)
    try running.awaitNothing()
  }

  @Test("a signal ends keymodectl at once while no command runs")
  func endingIdle() throws {
    let running = try RunningWhile(daemon, shell: "echo ran >> log")
    try enter()
    try running.awaitLog("ran")
    try running.awaitNoCommand()
    kill(running.number, SIGINT)
    #expect(running.end() == 128 + SIGINT)
    try running.awaitNothing()
  }

  @Test("other signals are passed on")
  func passed() throws {
    let traps = ["USR1", "USR2", "WINCH"].map { "trap 'echo \($0) >> log' \($0)" }
    let running = try RunningWhile(
      daemon,
      shell: "\(traps.joined(separator: "; ")); echo up >> log; while :; do sleep 0.01; done")
    try enter()
    try running.awaitLog("up")
    kill(running.number, SIGUSR1)
    try running.awaitLog("up", "USR1")
    kill(running.number, SIGUSR2)
    try running.awaitLog("up", "USR1", "USR2")
    kill(running.number, SIGWINCH)
    try running.awaitLog("up", "USR1", "USR2", "WINCH")
  }

  @Test(
    "--once passes on the exit status",
    arguments: [
      (["true"], 0), (["sh", "-c", "exit 7"], 7), (["sh", "-c", "kill -KILL $$"], 137),
      (["sh", "-c", "kill -TERM $$"], 143), (["/nonexistent/x"], 127), (["/etc/passwd"], 126),
    ] as [([String], Int32)])
  func once(_ command: [String], _ status: Int32) throws {
    try enter()
    let running = try RunningWhile(
      daemon.folder.path, ["--once", "keyboard=editingText", "--"] + command)
    #expect(running.end() == status)
    #expect(
      running.errors.hasPrefix("keymodectl: cannot run '\(command[0])': ") == (status / 2 == 63))
    try running.awaitNothing()
  }

  @Test("--once ends with a state that is left")
  func onceLeft() throws {
    let running = try RunningWhile(daemon, ["--once"], shell: "echo up >> log; exec sleep 1000")
    try enter()
    try running.awaitLog("up")
    try leave()
    #expect(running.end() == 128 + SIGTERM)
  }

  @Test("a command that does not exist is named, and tried again with the next entering")
  func missing() throws {
    let running = try RunningWhile(
      daemon.folder.path, ["keyboard=editingText", "--", "./late", "argument"])
    try enter()
    try wait(for: "a message") { running.errors != "" }
    #expect(running.errors == "keymodectl: cannot run './late': No such file or directory")
    let file = try running.folder.write("late", "#!/bin/sh\necho $1 >> log\n")
    chmod(file, 0o755)
    try leave()
    try enter()
    try running.awaitLog("argument")
  }

  @Test("--once ends where SIGCHLD was ignored at the start")
  func ignoredChildren() throws {
    try enter()
    let running = try RunningWhile(
      daemon.folder.path, ["--once", "keyboard=editingText", "--", "sh", "-c", "exit 7"],
      under: ["/usr/bin/env", "--ignore-signal=CHLD"])
    try running.awaitNothing()
    #expect(running.end() == 7)
  }

  @Test("--no-wait ends without a daemon also while the session is not in front")
  func noWaitInBackground() throws {
    let folder = try TemporaryFolder()
    // A file that is no socket refuses connections, so whether the session is in front is unknown.
    let bus = try folder.write("bus", "")
    let running = try RunningWhile(
      "\(folder.path)/none", ["--no-wait", "shift=on", "--", "true"], anySession: false,
      under: ["/usr/bin/env", "DBUS_SYSTEM_BUS_ADDRESS=unix:path=\(bus)"])
    try running.awaitNothing()
    #expect(running.end() == 3)
    #expect(running.errors.contains("no keymoded listens on "))
  }

  @Test("a state that the daemon does not have is refused, and nothing starts")
  func unknownState() throws {
    try enter()
    let running = try RunningWhile(
      daemon.folder.path, ["keyboard=editingText,singing", "--", "sh", "-c", "echo >> log"])
    #expect(running.end() == 2)
    #expect(running.errors.contains("unknown state 'singing' of keyboard; the states are\nprepare"))
    #expect(running.log == [])
    try running.awaitNothing()
  }

  @Test("the guardian has one thread, takes no signal, and is not what kills by name find")
  func guardian() throws {
    let running = try RunningWhile(daemon, shell: "exec sleep 1000")
    let guardian = try #require(running.guardian)
    let threads = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(guardian)/task")
    #expect(threads.count == 1)
    for signal in [SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGTSTP] { kill(guardian, signal) }
    try enter()
    try wait(for: "the command") { running.command(named: "sleep").count == 1 }
    #expect(getpgid(guardian) == guardian)
    let command = try #require(running.command.first)
    #expect(getpgid(command) == command)
    let status = try String(contentsOfFile: "/proc/\(command)/status", encoding: .utf8)
    for set in ["SigBlk", "SigIgn"] {
      let line = try #require(status.firstMatch(of: try Regex("\(set):\t([0-9a-f]{16})")))
      let signals = try #require(line[1].substring.flatMap { UInt64($0, radix: 16) })
      // Those from 32 on mean nothing by default; the first two belong to the C library.
      #expect(signals & 0x7fff_ffff == 0)
    }
    func files(_ number: Int32) throws -> Set<String> {
      let folder = "/proc/\(number)/fd"
      let names = try FileManager.default.contentsOfDirectory(atPath: folder)
      return Set(
        names.compactMap {
          try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\($0)")
        })
    }
    #expect(try files(guardian).contains("anon_inode:[signalfd]"))
    #expect(try !files(command).contains("anon_inode:[signalfd]"))
  }

  @Test("the guardian's mode is refused by hand")
  func byHand() throws {
    for arguments in [["--guard"], ["--guard", "0", "1000", "--", "true"], ["--guard", "x"]] {
      let ended = try TestSupport.run("\(Place.programs)/keymodectl", arguments)
      #expect(ended.status == 2)
      #expect(ended.errors.hasPrefix("keymodectl: '--guard' is "))
    }
  }

  @Test("keymodectl and the guardian sleep while no command runs and nothing happens")
  func idle() throws {
    let running = try RunningWhile(daemon, shell: "echo up >> log; exec sleep 1000")
    try enter()
    try running.awaitLog("up")
    try leave()
    try running.awaitNoCommand()
    // The runtime's threads go a few seconds after their last work.
    var before = try running.sleeps()
    for _ in 0..<10 {
      usleep(2_000_000)
      let now = try running.sleeps()
      if now == before { return }
      before = now
    }
    Issue.record("they wake up")
  }
}
