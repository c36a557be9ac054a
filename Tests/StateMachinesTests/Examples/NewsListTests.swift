import ObservedMachines
import StateMachineTesting
import StateMachines
import Testing

struct Article: Hashable { let title: String }
enum NewsError: Error { case offline }

/// A list of news: what it shows, and what leads from one to the next.
struct NewsList: DrawableRules {
  enum State { case empty, loading, articles([Article]), error(any Error) }
  enum Event {
    case refreshed, received([Article]), failed(any Error), dismissed, retried
    case deleted(Article), deletedRow(Int)
  }

  var initial: State { .empty }

  func next(_ state: State, on event: Event) -> State? {
    switch (event, state) {
    case (.refreshed, .empty): .loading
    case (.received(let articles), .loading): .articles(articles)
    case (.failed(let error), .loading): .error(error)
    case (.deleted(let article), .articles(let articles)):
      deleting(articles.firstIndex(of: article), from: articles)
    case (.deletedRow(let row), .articles(let articles)):
      deleting(articles.indices.contains(row) ? row : nil, from: articles)
    case (.dismissed, .error): .empty
    case (.retried, .error): .loading

    case (.refreshed, .loading), (.refreshed, .articles), (.refreshed, .error): nil
    case (.received, .empty), (.received, .articles), (.received, .error): nil
    case (.failed, .empty), (.failed, .articles), (.failed, .error): nil
    case (.deleted, .empty), (.deleted, .loading), (.deleted, .error): nil
    case (.deletedRow, .empty), (.deletedRow, .loading), (.deletedRow, .error): nil
    case (.dismissed, .empty), (.dismissed, .loading), (.dismissed, .articles): nil
    case (.retried, .empty), (.retried, .loading), (.retried, .articles): nil
    }
  }

  /// One article fewer; empty after the last one; ignored if there is no such row.
  private func deleting(_ row: Int?, from articles: [Article]) -> State? {
    guard let row else { return nil }
    var others = articles
    others.remove(at: row)
    return others.isEmpty ? .empty : .articles(others)
  }
}

/// What the diagram and the checks need, because payloads decide.
extension NewsList {
  private static let (one, two) = (Article(title: "one"), Article(title: "two"))

  var states: [State] {
    [
      .empty, .loading, .articles([]), .articles([Self.one]), .articles([Self.one, Self.two]),
      .error(NewsError.offline),
    ]
  }

  var samples: [Sample<Event>] {
    [
      Sample(.refreshed), Sample(.received([])), Sample(.received([Self.one])),
      Sample(.received([Self.one, Self.two])), Sample(.failed(NewsError.offline)),
      Sample(.deleted(Self.one)), Sample(.deletedRow(0)), Sample(.dismissed), Sample(.retried),
    ]
  }

  func condition(of state: State) -> String? {
    guard case .articles(let articles) = state else { return nil }
    return articles.count == 1 ? "the last one" : "one of several"
  }
}

/// Drives the list, and owns what each state shows for as long as the machine is in that state.
@MainActor
final class NewsScreen {
  /// What a state puts on the screen, here only as text.
  final class View {
    var lines: [String]
    let buttons: [(title: String, event: NewsList.Event)]

    init(_ lines: [String], buttons: [(String, NewsList.Event)] = []) {
      (self.lines, self.buttons) = (lines, buttons)
    }
  }

  let machine = ObservedMachine(NewsList())
  private(set) var placeholder, spinner, table, alert: View?

  init(load: @escaping @Sendable () async throws -> [Article]) {
    machine.entering(.empty) { [unowned self] _ in
      placeholder = View(["No news"], buttons: [("Refresh", .refreshed)])
    }
    machine.leaving(.empty) { [unowned self] _ in placeholder = nil }

    machine.entering(.loading) { [unowned self] _ in
      spinner = View(["Loading"])
      Task { [weak self] in
        do {
          let articles = try await load()
          self?.machine.send(.received(articles))
        } catch {
          self?.machine.send(.failed(error))
        }
      }
    }
    machine.leaving(.loading) { [unowned self] _ in spinner = nil }

    machine.entering(\.titles) { [unowned self] titles, _ in table = View(titles) }
    machine.after { [unowned self] step in table?.lines = step.to.titles ?? [] }
    machine.leaving(\.titles) { [unowned self] _, _ in table = nil }

    machine.entering(\.error) { [unowned self] error, _ in
      alert = View(["\(error)"], buttons: [("Dismiss", .dismissed), ("Retry", .retried)])
    }
    machine.leaving(\.error) { [unowned self] _, _ in alert = nil }

    machine.start()
  }
}

/// The payloads, each of one state.
extension NewsList.State {
  var titles: [String]? {
    if case .articles(let articles) = self { articles.map(\.title) } else { nil }
  }

  var error: (any Error)? { if case .error(let error) = self { error } else { nil } }
}

@Suite("Example: news list", .timeLimit(.minutes(5)))
@MainActor
struct NewsListTests {
  private let one = Article(title: "one")
  private let two = Article(title: "two")

  @Test("the news list follows its table")
  func rules() throws {
    let steps = steps(of: NewsList(), pairs: 54).map {
      $0.replacing(/Article\(title: "(\w+)"\)/) { $0.1 }
    }
    #expect(
      steps == [
        "empty + refreshed → loading", "loading + received([]) → articles([])",
        "loading + received([one]) → articles([one])",
        "loading + received([one, two]) → articles([one, two])",
        "loading + failed(offline) → error(offline)", "articles([one]) + deleted(one) → empty",
        "articles([one]) + deletedRow(0) → empty",
        "articles([one, two]) + deleted(one) → articles([two])",
        "articles([one, two]) + deletedRow(0) → articles([two])",
        "error(offline) + dismissed → empty", "error(offline) + retried → loading",
      ])
    try expectSound(NewsList(), diagram: "news-list")
    #expect(NewsList().next(.articles([one]), on: .deleted(two)) == nil, "it is not in the list")
  }

  @Test("which states can follow depends on the kind of the present one alone")
  func following() {
    for articles in [[], [one], [one, two]] {
      let machine = StateMachine(NewsList(), in: .articles(articles))
      #expect(machine.nextStates == ["empty"])
      #expect(machine.canEnter(.empty) && machine.canEnter(named: "empty"))
      #expect(!machine.canEnter(.articles([])), "one article fewer enters nothing")
    }
  }

  @Test("a row is deleted where an article is not unique, and none that is not there")
  func rows() throws {
    let list = NewsList.State.articles([one, two, one])
    let shorter = try #require(NewsList().next(list, on: .deletedRow(2)))
    #expect("\(shorter)" == "\(NewsList.State.articles([one, two]))")
    #expect(NewsList().next(list, on: .deletedRow(3)) == nil)
    #expect(NewsList().next(list, on: .deletedRow(-1)) == nil)
  }

  @Test("articles that are equal are deleted one by one")
  func equalArticles() throws {
    let list = NewsList()
    let once = try #require(list.next(.articles([one, two, one]), on: .deleted(one)))
    #expect("\(once)" == "\(NewsList.State.articles([two, one]))")
    let twice = try #require(list.next(once, on: .deleted(one)))
    #expect("\(twice)" == "\(NewsList.State.articles([two]))")
  }

  @Test("the news list is sound")
  func sound() {
    let list = NewsList()
    #expect(list.soundnessFaults == [])
    var generator = SystemRandomNumberGenerator()
    #expect(list.faults(ofRandomWalks: 100, using: &generator) == [])
    #expect(list.shortestPaths().faults == [])
  }

  @Test("after every arrow, only the view of the present state is on the screen")
  func everyArrow() {
    for path in NewsList().shortestPaths().paths {
      let screen = NewsScreen { [] }
      for event in path.events { screen.machine.send(event) }
      #expect(screen.machine.stateName == path.arrow.to)
      let views = [screen.placeholder, screen.spinner, screen.table, screen.alert]
      #expect(views.count { $0 != nil } == 1)
    }
  }

  @Test("a loader that has not answered does not keep the screen")
  func gone() async {
    let (answers, answer) = AsyncStream.makeStream(of: [Article].self)
    var screen: NewsScreen? = NewsScreen {
      for await articles in answers { return articles }
      throw NewsError.offline
    }
    screen?.machine.send(.refreshed)
    let isKept = { [weak screen] in screen != nil }
    screen = nil
    #expect(!isKept())
    answer.finish()
  }
}
