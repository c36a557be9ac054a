import Glibc
import KeymodeClient
public import System
public import Terminal
import Wire

/// `keymodectl seat`: lets the person in front read the states, but no person who was there before.
///
/// The ACL of the state socket names the person in front. When another person comes to the front,
/// or the present person leaves, this takes three steps; the next switch begins them again.
///
/// 1. It removes the name from the ACL, so that no new connection comes.
/// 2. It has the daemon end the connections, and forget the changes so far.
/// 3. It writes the name of the person into the ACL.
///
/// A new socket gets its ACL at once. A person found in the ACL at the start counts as another
/// person: other persons may have been in front before this program started.
public final class SeatKeeper {
  private let directory: String
  private let path: String
  private let report: (TerminalText) -> Void
  private let mainLoop: MainLoop<Int32>
  private var session: LoginSession?
  /// The ID of the person in front.
  private var person: UInt32?
  /// Whether the daemon has done step 2 for this person; `nil` until the socket has been looked at.
  private var hasHungUp: Bool?
  /// The call of step 2, or the timer of the next attempt.
  private var call: EventSource?
  private var failure: ClientError?
  /// The signal that ends this program, once the ACL names no person.
  private var ending: Int32?

  /// Keeps the socket of the daemon that serves in `directory`.
  ///
  /// - Parameter report: receives the messages for the administrator.
  public init(_ directory: String, report: @escaping (TerminalText) -> Void) throws(SystemError) {
    mainLoop = try MainLoop()
    (self.directory, self.report) = (directory, report)
    path = "\(directory)/\(SocketDirectory.stateSocket)"
  }

  /// Keeps the ACL until a signal comes, and then removes the name.
  ///
  /// - Returns: the signal.
  /// - Throws: `SystemError` if the folder cannot be watched, or the ACL cannot be changed.
  public func keep() throws -> Int32 {
    let signals = try mainLoop.loop.addSignals([SIGHUP, SIGINT, SIGTERM]) { [self] in end($0) }
    let folder = try FolderMonitor(mainLoop.loop, path: directory) { [self] in takeSteps() }
    session = try LoginSession(.activeOfSeat, on: mainLoop.loop) { [self] presence in
      if presence == .inFront, session?.person == nil {
        report("there is no systemd-logind: only members of the socket's group may read the states")
      }
      setPerson(session?.person)
    }
    takeSteps()
    ServiceManager.notify("READY=1")
    defer { (session, call) = (nil, nil) }
    return try mainLoop.runUntilEnd(keeping: signals, folder)
  }

  private func end(_ signal: Int32) {
    guard ending == nil else { return mainLoop.end(signal) }
    (ending, session) = (signal, nil)
    setPerson(nil)
    takeSteps()
  }

  private func setPerson(_ next: UInt32?) {
    guard next != person else { return }
    // An earlier call does not count: the daemon may have answered it before this change.
    (person, hasHungUp, call) = (next, false, nil)
    takeSteps()
  }

  /// Takes the steps that are possible now.
  private func takeSteps() {
    mainLoop.perform {
      guard var acl = try socketACL() else { return endIfWanted() }
      hasHungUp = hasHungUp ?? (acl.user == nil)
      if let user = acl.user, user != person {
        acl.user = nil
        try acl.set(on: path)
      }
      guard hasHungUp == true else { return try askToHangUp() }
      if acl.user != person {
        acl.user = person
        try acl.set(on: path)
      }
      ServiceManager.showStatus(person.map { "user \($0) may read" } ?? "no person is in front")
      endIfWanted()
    }
  }

  /// The permissions of the socket; `nil` while there is none.
  private func socketACL() throws(SystemError) -> FileACL? {
    do throws(SystemError) {
      return try FileACL(of: path)
    } catch {
      guard error.code == ENOENT else { throw error }
      return nil
    }
  }

  /// Has the daemon do step 2, unless a call is under way. Repeats until the daemon has done it.
  private func askToHangUp() throws {
    guard call == nil else { return }
    call = try mainLoop.loop.ask(.hangUp, of: directory, timeout: .seconds(2)) { [self] answer in
      switch answer {
      case .success: (hasHungUp, call, failure) = (true, nil, nil)
      case .failure(let error):
        if error != failure {
          report("\(error);\nthe person in front may not read until the daemon answers")
        }
        failure = error
        mainLoop.perform {
          call = try mainLoop.loop.call(after: .seconds(1)) { [self] in
            call = nil
            takeSteps()
          }
        }
        return endIfWanted()
      }
      takeSteps()
    }
  }

  private func endIfWanted() {
    if let ending { mainLoop.end(ending) }
  }
}
