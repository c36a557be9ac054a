import Foundation
import ObservedMachines
import StateMachines
import Testing

/// A list of check-ins of a user, who can log out, and is logged out without authorization.
struct UserCheckinList: DrawableRules {
  enum State { case idle, loading, error(any Error), empty, list([Checkin]), loggedOut }
  enum Event { case loadingStarted, finished([Checkin]), failed(any Error), logout }

  var initial: State { .idle }

  func next(_ state: State, on event: Event) -> State? {
    switch (event, state) {
    case (.loadingStarted, .idle), (.loadingStarted, .error), (.loadingStarted, .empty),
      (.loadingStarted, .list), (.loadingStarted, .loggedOut):
      .loading
    case (.loadingStarted, .loading): nil

    case (.finished(let items), .loading): items.isEmpty ? .empty : .list(items)
    case (.finished, .idle), (.finished, .error), (.finished, .empty), (.finished, .list),
      (.finished, .loggedOut):
      nil

    case (.failed(ProviderError.noAuth), .loading): .loggedOut
    case (.failed(let error), .loading): .error(error)
    case (.failed, .idle), (.failed, .error), (.failed, .empty), (.failed, .list),
      (.failed, .loggedOut):
      nil

    case (.logout, .error), (.logout, .empty), (.logout, .list): .loggedOut
    case (.logout, .idle), (.logout, .loading), (.logout, .loggedOut): nil
    }
  }

  var states: [State] {
    [
      .idle, .loading, .error(ProviderError.offline), .empty, .list([Checkin(place: "here")]),
      .loggedOut,
    ]
  }

  var samples: [Sample<Event>] {
    [
      Sample(.loadingStarted),
      Sample(.finished([]), where: "none"),
      Sample(.finished([Checkin(place: "here")]), where: "some"),
      Sample(.failed(ProviderError.noAuth), where: "no authorization"),
      Sample(.failed(ProviderError.offline), where: "otherwise"), Sample(.logout),
    ]
  }
}

/// Logs users out.
protocol AuthService: Sendable {
  func logOut() async
}

/// Owns the machine, the provider and the authorization.
@MainActor
final class UserCheckinInteractor {
  let machine = ObservedMachine(UserCheckinList())
  private let provider: any CheckinProvider
  private let auth: any AuthService

  init(_ provider: any CheckinProvider, _ auth: any AuthService) {
    (self.provider, self.auth) = (provider, auth)
  }

  func loadCheckins() async {
    guard case .changed = machine.send(.loadingStarted) else { return }
    do {
      let checkins = try await provider.checkins()
      machine.send(.finished(checkins))
    } catch {
      machine.send(.failed(error))
    }
  }

  /// As in the source: the service is called even where the machine ignores the event.
  func logout() async {
    await auth.logOut()
    machine.send(.logout)
  }

  /// Asks the machine first, as `loadCheckins()` does: then the two cannot differ.
  func logoutIfAccepted() async {
    guard case .changed = machine.send(.logout) else { return }
    await auth.logOut()
  }
}

/// The version with users to the letter: it drops every failure but a missing authorization.
private struct FailureDroppingUserList: DrawableRules {
  let list = UserCheckinList()
  var initial: UserCheckinList.State { list.initial }
  var states: [UserCheckinList.State] { list.states }
  var samples: [Sample<UserCheckinList.Event>] { list.samples }

  func next(_ state: UserCheckinList.State, on event: UserCheckinList.Event) -> UserCheckinList
    .State?
  {
    let next = list.next(state, on: event)
    guard case .error? = next else { return next }
    return nil
  }
}

@Suite("Example: check-in list of a user", .timeLimit(.minutes(5)))
@MainActor
struct UserCheckinListTests {
  @Test("the version with users follows its table")
  func second() throws {
    #expect(
      checkinSteps(of: UserCheckinList(), pairs: 36) == [
        "idle + loadingStarted → loading", "loading + finished([]) → empty",
        "loading + finished([here]) → list([here])", "loading + failed(noAuth) → loggedOut",
        "loading + failed(offline) → error(offline)", "error(offline) + loadingStarted → loading",
        "error(offline) + logout → loggedOut", "empty + loadingStarted → loading",
        "empty + logout → loggedOut", "list([here]) + loadingStarted → loading",
        "list([here]) + logout → loggedOut", "loggedOut + loadingStarted → loading",
      ])
    try expectSound(UserCheckinList(), diagram: "check-in-list-with-users")
  }

  @Test("to the letter, no error can be reached in the second version either")
  func literal() {
    let rules = FailureDroppingUserList()
    #expect(rules.soundnessFaults == [.unreachableState("error")])
    #expect(
      Set(table(of: UserCheckinList()).split(separator: "\n"))
        .subtracting(table(of: rules).split(separator: "\n"))
        == ["loading + failed(offline) → error(offline)"])
  }

  @Test(
    "logout during loading calls the service although the machine ignores it, unless it is asked")
  func logoutDuringLoading() async {
    for (asks, calls) in [(false, 1), (true, 0)] {
      let backend = Backend()
      let interactor = UserCheckinInteractor(backend, backend)
      interactor.machine.send(.loadingStarted)
      if asks { await interactor.logoutIfAccepted() } else { await interactor.logout() }
      #expect(interactor.machine.stateName == "loading")
      backend.loggedOut.finish()
      var logouts = 0
      for await _ in backend.logouts { logouts += 1 }
      #expect(logouts == calls)
    }
  }

  @Test("the versions differ in exactly one pair that the first has")
  func agreement() {
    let (old, new) = (lines(of: CheckinList()), lines(of: UserCheckinList()))
    #expect(old.count == 25)
    #expect(Set(old.keys).isSubset(of: new.keys))
    #expect(old.filter { new[$0.key] != $0.value } == ["loading + failed(noAuth)": "error(noAuth)"])
    #expect(new["loading + failed(noAuth)"] == "loggedOut")
  }

  /// The next state for every pair.
  private func lines(of rules: some DrawableRules) -> [String: String] {
    let pairs = table(of: rules).split(separator: "\n").map { line in
      line.components(separatedBy: " → ")
    }
    return Dictionary(uniqueKeysWithValues: pairs.map { ($0[0], $0[1]) })
  }

  @Test("not a line of loadCheckins() differs between the versions")
  func sameLines() throws {
    let second = #filePath
    let first = second.replacing("/UserCheckinListTests", with: "/CheckinListTests")
    let functions = try [first, second].flatMap { file in
      try String(contentsOfFile: file, encoding: .utf8)
        .matches(of: /\n  func loadCheckins\(\) async {\n(?s:.*?)\n  }\n/).map(\.output)
    }
    #expect(functions.count == 2)
    #expect(Set(functions).count == 1)
    #expect(functions.first?.contains("machine.send(.failed(error))") == true)
  }

  @Test("the user is logged out by logout() and without authorization, and can load again")
  func users() async {
    let backend = Backend()
    let interactor = UserCheckinInteractor(backend, backend)
    var entered: [String] = []
    interactor.machine.entering { [rules = UserCheckinList()] step in
      entered.append(rules.name(of: step.to))
    }
    let answers: [Backend.Answer] = [
      .failure(ProviderError.noAuth), .failure(ProviderError.offline),
      .success([Checkin(place: "here")]),
    ]
    for answer in answers {
      backend.answer.yield(answer)
      await interactor.loadCheckins()
    }
    await interactor.logout()
    #expect(
      entered == [
        "loading", "loggedOut", "loading", "error", "loading", "list", "loggedOut",
      ])
    backend.loggedOut.finish()
    var logouts = 0
    for await _ in backend.logouts { logouts += 1 }
    #expect(logouts == 1, "logout() asks the service, a failure does not")
  }
}
