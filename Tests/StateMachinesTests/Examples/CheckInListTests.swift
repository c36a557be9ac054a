import ObservedMachines
import StateMachines
import Testing

/// The first version of a check-in list: loading can fail.
struct CheckInList: DrawableRules {
  enum State: Hashable { case loading, loaded([String]), error(Failure) }
  enum Event: Hashable { case reloaded, listLoaded([String]), loadingFailed(Failure) }
  enum Failure: Error, Hashable { case offline, noAuth }

  var initial: State { .loading }

  func next(_ state: State, on event: Event) -> State? {
    switch (event, state) {
    case (.reloaded, .loaded), (.reloaded, .error): .loading
    case (.reloaded, .loading): nil
    case (.listLoaded(let names), .loading): .loaded(names)
    case (.listLoaded, .loaded), (.listLoaded, .error): nil
    case (.loadingFailed(let failure), .loading): .error(failure)
    case (.loadingFailed, .loaded), (.loadingFailed, .error): nil
    }
  }

  var states: [State] { [.loading, .loaded([]), .error(.offline)] }

  var samples: [Sample<Event>] {
    [
      Sample(.reloaded), Sample(.listLoaded([])),
      Sample(.loadingFailed(.offline), where: "offline"),
      Sample(.loadingFailed(.noAuth), where: "no authorization"),
    ]
  }
}

/// The second version: without authorization the user is logged out, and can log in again.
struct CheckInListWithLogin: DrawableRules {
  typealias Failure = CheckInList.Failure
  enum State: Hashable { case loading, loaded([String]), error(Failure), loggedOut }
  enum Event: Hashable { case reloaded, listLoaded([String]), loadingFailed(Failure), loggedIn }

  var initial: State { .loading }

  func next(_ state: State, on event: Event) -> State? {
    switch (event, state) {
    case (.reloaded, .loaded), (.reloaded, .error): .loading
    case (.reloaded, .loading), (.reloaded, .loggedOut): nil
    case (.listLoaded(let names), .loading): .loaded(names)
    case (.listLoaded, .loaded), (.listLoaded, .error), (.listLoaded, .loggedOut): nil
    case (.loadingFailed(.noAuth), .loading): .loggedOut
    case (.loadingFailed(let failure), .loading): .error(failure)
    case (.loadingFailed, .loaded), (.loadingFailed, .error), (.loadingFailed, .loggedOut): nil
    case (.loggedIn, .loggedOut): .loading
    case (.loggedIn, .loading), (.loggedIn, .loaded), (.loggedIn, .error): nil
    }
  }

  var states: [State] { [.loading, .loaded([]), .error(.offline), .loggedOut] }

  var samples: [Sample<Event>] {
    [
      Sample(.reloaded), Sample(.listLoaded([])),
      Sample(.loadingFailed(.offline), where: "offline"),
      Sample(.loadingFailed(.noAuth), where: "no authorization"), Sample(.loggedIn),
    ]
  }
}

/// A service that returns the list or a failure.
private final class ListService {
  var answers: [Result<[String], CheckInList.Failure>] = []
  func load() -> Result<[String], CheckInList.Failure> { answers.removeFirst() }
}

/// A service to log in to.
private final class AuthService {
  private(set) var logins = 0
  func logIn() { logins += 1 }
}

/// Does the work of the first machine's states; the machine alone decides what comes next.
private final class Interactor {
  let machine = ObservedMachine(CheckInList())
  private let list: ListService

  init(_ list: ListService) {
    self.list = list
    machine.observe(didEnter: { [unowned self] state in work(in: state) })
  }

  func start() { work(in: machine.state) }

  private func work(in state: CheckInList.State) {
    guard state == .loading else { return }
    switch list.load() {
    case .success(let names): machine.send(.listLoaded(names))
    case .failure(let failure): machine.send(.loadingFailed(failure))
    }
  }
}

/// Does the work of the second machine's states, with both services.
private final class InteractorWithLogin {
  let machine = ObservedMachine(CheckInListWithLogin())
  private let list: ListService
  private let auth: AuthService

  init(_ list: ListService, _ auth: AuthService) {
    (self.list, self.auth) = (list, auth)
    machine.observe(didEnter: { [unowned self] state in work(in: state) })
  }

  func start() { work(in: machine.state) }

  private func work(in state: CheckInListWithLogin.State) {
    switch state {
    case .loading:
      switch list.load() {
      case .success(let names): machine.send(.listLoaded(names))
      case .failure(let failure): machine.send(.loadingFailed(failure))
      }
    case .loggedOut:
      auth.logIn()
      machine.send(.loggedIn)
    case .loaded, .error: break
    }
  }
}

@Suite("Example: check-in list")
struct CheckInListTests {
  @Test("the check-in list follows its table, failed loading included")
  func first() throws {
    let rules = CheckInList()
    let loaded = CheckInList.State.loaded(["Ada"])
    for (state, event, next) in [
      (.loading, .reloaded, nil), (.loading, .listLoaded(["Ada"]), loaded),
      (.loading, .loadingFailed(.offline), .error(.offline)),
      (.loading, .loadingFailed(.noAuth), .error(.noAuth)),
      (loaded, .reloaded, .loading), (loaded, .listLoaded([]), nil),
      (loaded, .loadingFailed(.offline), nil), (loaded, .loadingFailed(.noAuth), nil),
      (.error(.noAuth), .reloaded, .loading), (.error(.noAuth), .listLoaded([]), nil),
      (.error(.noAuth), .loadingFailed(.offline), nil),
      (.error(.noAuth), .loadingFailed(.noAuth), nil),
    ] as [(CheckInList.State, CheckInList.Event, CheckInList.State?)] {
      #expect(rules.next(state, on: event) == next, "\(state) + \(event)")
    }
    try expectSound(rules, diagram: "check-in-list")
  }

  @Test("the version with login agrees with the first version on every pair but one")
  func second() throws {
    let old = Set(table(of: CheckInList()).split(separator: "\n"))
    let new = Set(table(of: CheckInListWithLogin()).split(separator: "\n"))
    #expect(old.count == 3 * 4 && new.count == 4 * 5)
    #expect(old.subtracting(new) == ["loading + loadingFailed(noAuth) → error(noAuth)"])
    #expect(
      new.subtracting(old).filter { !$0.hasSuffix("/") }.sorted() == [
        "loading + loadingFailed(noAuth) → loggedOut", "loggedOut + loggedIn → loading",
      ])
    try expectSound(CheckInListWithLogin(), diagram: "check-in-list-with-login")
  }

  @Test("an interactor drives the check-in list with its service")
  func interactor() {
    let list = ListService()
    list.answers = [.failure(.noAuth), .success(["Ada", "Bob"])]
    let interactor = Interactor(list)
    interactor.start()
    #expect(interactor.machine.state == .error(.noAuth))
    interactor.machine.send(.reloaded)
    #expect(interactor.machine.state == .loaded(["Ada", "Bob"]))
    #expect(list.answers.isEmpty)
  }

  @Test("an interactor drives the version with login with both services")
  func interactorWithLogin() {
    let (list, auth) = (ListService(), AuthService())
    list.answers = [.failure(.noAuth), .failure(.offline), .success(["Ada", "Bob"])]
    let interactor = InteractorWithLogin(list, auth)
    interactor.start()
    #expect(interactor.machine.state == .error(.offline))
    #expect(auth.logins == 1)
    interactor.machine.send(.reloaded)
    #expect(interactor.machine.state == .loaded(["Ada", "Bob"]))
    #expect(list.answers.isEmpty)
  }
}
