import ObservedMachines
import StateMachines
import Testing

/// A list of news.
struct NewsList: DrawableRules {
  enum State: Hashable { case empty, loading, articles([String]), error(String) }
  enum Event: Hashable { case refreshed, received([String]), failed(String), cleared }

  var initial: State { .empty }

  func next(_ state: State, on event: Event) -> State? {
    switch (event, state) {
    case (.refreshed, .empty), (.refreshed, .articles), (.refreshed, .error): .loading
    case (.refreshed, .loading): nil
    case (.received(let articles), .loading): articles.isEmpty ? .empty : .articles(articles)
    case (.received, .empty), (.received, .articles), (.received, .error): nil
    case (.failed(let reason), .loading): .error(reason)
    case (.failed, .empty), (.failed, .articles), (.failed, .error): nil
    case (.cleared, .articles), (.cleared, .error): .empty
    case (.cleared, .empty), (.cleared, .loading): nil
    }
  }

  var states: [State] { [.empty, .loading, .articles(["a"]), .error("e")] }

  var samples: [Sample<Event>] {
    [
      Sample(.refreshed), Sample(.received([]), where: "none"),
      Sample(.received(["a"]), where: "some"), Sample(.failed("e")), Sample(.cleared),
    ]
  }
}

@Suite("Example: news list")
struct NewsListTests {
  @Test("the news list follows its table")
  func rules() throws {
    #expect(
      steps(of: NewsList(), pairs: 20) == [
        "empty + refreshed → loading", #"loading + received([]) → empty"#,
        #"loading + received(["a"]) → articles(["a"])"#, #"loading + failed("e") → error("e")"#,
        #"articles(["a"]) + refreshed → loading"#, #"articles(["a"]) + cleared → empty"#,
        #"error("e") + refreshed → loading"#, #"error("e") + cleared → empty"#,
      ])
    try expectSound(NewsList(), diagram: "news-list")
  }

  @Test("nextStates and accepts(_:) depend on the present state, and do not change it")
  func nextStates() {
    var machine = StateMachine(NewsList())
    #expect(machine.nextStates == ["loading"])
    machine.take(.refreshed)
    #expect(machine.nextStates == ["empty", "articles", "error"])
    machine.take(.received(["x"]))
    #expect(machine.nextStates == ["empty", "loading"])
    #expect(!machine.accepts(.failed("y")))
    #expect(machine.accepts(.cleared))
    #expect(machine.state == .articles(["x"]), "asking changed nothing")
  }

  @Test("an observer of willExit cleans up on every way out of a state")
  func cleanUp() {
    let news = ObservedMachine(NewsList())
    var shown: String?
    news.observe(
      willExit: { if case .error = $0 { shown = nil } },
      didEnter: { if case .error(let reason) = $0 { shown = reason } })
    for way in [NewsList.Event.refreshed, .cleared] {
      news.send(.refreshed)
      news.send(.failed("offline"))
      #expect(shown == "offline")
      news.send(way)
      #expect(shown == nil)
      news.send(.received([]))
    }
  }
}
