import ObservedMachines
import StateMachineTesting
import StateMachines
import Testing

struct Checkin: Hashable { let place: String }

/// Where check-ins come from.
protocol CheckinProvider: Sendable {
  func checkins() async throws -> [Checkin]
}

enum ProviderError: Error { case noAuth, offline }

/// A list of check-ins, which are loaded.
struct CheckinList: DrawableRules {
  enum State { case idle, loading, error(any Error), empty, list([Checkin]) }
  enum Event { case loadingStarted, finished([Checkin]), failed(any Error) }

  var initial: State { .idle }

  func next(_ state: State, on event: Event) -> State? {
    switch (event, state) {
    case (.loadingStarted, .idle), (.loadingStarted, .error), (.loadingStarted, .empty),
      (.loadingStarted, .list):
      .loading
    case (.loadingStarted, .loading): nil

    case (.finished(let items), .loading): items.isEmpty ? .empty : .list(items)
    case (.finished, .idle), (.finished, .error), (.finished, .empty), (.finished, .list): nil

    case (.failed(let error), .loading): .error(error)
    case (.failed, .idle), (.failed, .error), (.failed, .empty), (.failed, .list): nil
    }
  }

  var states: [State] {
    [.idle, .loading, .error(ProviderError.offline), .empty, .list([Checkin(place: "here")])]
  }

  var samples: [Sample<Event>] {
    [
      Sample(.loadingStarted),
      Sample(.finished([]), where: "none"),
      Sample(.finished([Checkin(place: "here")]), where: "some"),
      Sample(.failed(ProviderError.noAuth), where: "no authorization"),
      Sample(.failed(ProviderError.offline), where: "otherwise"),
    ]
  }
}

/// The list as its source has it: a failure is ignored, so that nothing leads to `error`.
struct LiteralCheckinList: DrawableRules {
  let list = CheckinList()
  var initial: CheckinList.State { list.initial }
  var states: [CheckinList.State] { list.states }
  var samples: [Sample<CheckinList.Event>] { list.samples }

  func next(_ state: CheckinList.State, on event: CheckinList.Event) -> CheckinList.State? {
    if case .failed = event { nil } else { list.next(state, on: event) }
  }
}

/// What a state shows, as text: a function of the state, and of nothing else.
extension CheckinList.State {
  var view: [String] {
    switch self {
    case .idle: []
    case .loading: ["Loading …"]
    case .error(let error): ["Could not load: \(error)", "[Try again]"]
    case .empty: ["No check-ins"]
    case .list(let checkins): checkins.map { "• \($0.place)" }
    }
  }
}

/// Owns the machine and the provider.
@MainActor
final class CheckinInteractor {
  let machine = ObservedMachine(CheckinList())
  private let provider: any CheckinProvider

  init(_ provider: any CheckinProvider) { self.provider = provider }

  func loadCheckins() async {
    guard case .changed = machine.send(.loadingStarted) else { return }
    do {
      let checkins = try await provider.checkins()
      machine.send(.finished(checkins))
    } catch {
      machine.send(.failed(error))
    }
  }
}

/// A provider that returns what the test tells it to, and a service that tells of logouts.
final class Backend: CheckinProvider, AuthService {
  typealias Answer = Result<[Checkin], any Error>

  private let answers: AsyncStream<Answer>
  let answer: AsyncStream<Answer>.Continuation
  let logouts: AsyncStream<Void>
  let loggedOut: AsyncStream<Void>.Continuation

  init() {
    (answers, answer) = AsyncStream.makeStream()
    (logouts, loggedOut) = AsyncStream.makeStream()
  }

  func checkins() async throws -> [Checkin] {
    for await answer in answers { return try answer.get() }
    throw ProviderError.offline
  }

  func logOut() async { loggedOut.yield() }
}

/// The steps of a list of check-ins, each of which is written as its place.
func checkinSteps(of rules: some DrawableRules, pairs: Int) -> [String] {
  steps(of: rules, pairs: pairs).map { $0.replacing(/Checkin\(place: "(\w+)"\)/) { $0.1 } }
}

@Suite("Example: check-in list", .timeLimit(.minutes(5)))
@MainActor
struct CheckinListTests {
  @Test("the first version follows its table")
  func first() throws {
    #expect(
      checkinSteps(of: CheckinList(), pairs: 25) == [
        "idle + loadingStarted → loading", "loading + finished([]) → empty",
        "loading + finished([here]) → list([here])", "loading + failed(noAuth) → error(noAuth)",
        "loading + failed(offline) → error(offline)", "error(offline) + loadingStarted → loading",
        "empty + loadingStarted → loading", "list([here]) + loadingStarted → loading",
      ])
    try expectSound(CheckinList(), diagram: "check-in-list")
  }

  @Test(
    "the interactor loads what the provider says",
    arguments: [
      (.success([]), "empty"), (.success([Checkin(place: "here")]), #"list(["here"])"#),
      (.failure(ProviderError.offline), "error(offline)"),
      (.failure(ProviderError.noAuth), "error(noAuth)"),
    ] as [(Backend.Answer, String)])
  func interactor(_ answer: Backend.Answer, _ state: String) async {
    let backend = Backend()
    let interactor = CheckinInteractor(backend)
    backend.answer.yield(answer)
    await interactor.loadCheckins()
    #expect(words(interactor.machine.state) == state)
    backend.answer.yield(.success([]))
    await interactor.loadCheckins()
    #expect(words(interactor.machine.state) == "empty", "loading works in every such state")
  }

  private func words(_ state: CheckinList.State) -> String {
    switch state {
    case .list(let items): "list(\(items.map(\.place)))"
    case .error(let error): "error(\(error))"
    case .idle, .loading, .empty: "\(state)"
    }
  }

  @Test("the literal version drops failures, so the check finds that nothing leads to an error")
  func literal() {
    #expect(LiteralCheckinList().soundnessFaults == [.unreachableState("error")])
  }

  @Test("one arrow leads from the states to the view, also for a new payload")
  func view() {
    let machine = ObservedMachine(CheckinList())
    var shown: [[String]] = []
    machine.after { shown.append($0.to.view) }
    machine.send(.loadingStarted)
    machine.send(.failed(ProviderError.offline))
    machine.send(.loadingStarted)
    machine.send(.finished([Checkin(place: "here"), Checkin(place: "there")]))
    #expect(
      shown == [
        ["Loading …"], ["Could not load: offline", "[Try again]"], ["Loading …"],
        ["• here", "• there"],
      ])
    let views = Set(CheckinList().states.map(\.view))
    #expect(views.count == 5, "each state looks different")
  }

  @Test("while it loads, another load asks for nothing")
  func loadingTwice() async {
    let backend = Backend()
    let interactor = CheckinInteractor(backend)
    let loading = Task { await interactor.loadCheckins() }
    for await state in interactor.machine.states { if case .loading = state { break } }
    await interactor.loadCheckins()
    #expect(interactor.machine.stateName == "loading")
    backend.answer.yield(.success([Checkin(place: "here")]))
    await loading.value
    #expect(interactor.machine.stateName == "list")
  }
}
