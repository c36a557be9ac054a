import ObservedMachines
import StateMachineTesting
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

/// The list as its source has it: a failure other than a missing authorization is ignored.
struct LiteralUserCheckinList: DrawableRules {
  let list = UserCheckinList()
  var initial: UserCheckinList.State { list.initial }
  var states: [UserCheckinList.State] { list.states }
  var samples: [Sample<UserCheckinList.Event>] { list.samples }

  func next(
    _ state: UserCheckinList.State, on event: UserCheckinList.Event
  ) -> UserCheckinList.State? {
    let next = list.next(state, on: event)
    if case .error = next { return nil }
    return next
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

  @Test("the literal version drops failures, so the check finds that nothing leads to an error")
  func literal() {
    #expect(LiteralUserCheckinList().soundnessFaults == [.unreachableState("error")])
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
}
