public import StateMachines

/// Rules that are a table. The keyboard machine and the user's own machines have such rules. The
/// states of the shipped table, ``shipped``, say what the input area of a chat program shows.
///
/// States and events are numbers within their table, so that a transition is one array lookup
/// whatever the size of the table. Programs receive their names.
public struct CompiledTable: DrawableRules, TimedRules, Hashable {
  /// A state of one table.
  public struct State: Hashable, Sendable {
    fileprivate let number: UInt8
  }

  /// An event. Shipped events are the same in every table; other events belong to one table.
  public struct Event: Hashable, Sendable {
    fileprivate let number: UInt8

    /// The user pressed the button that switches between text and speech.
    public static let clickSwitchButton = Event(number: 0)
    /// The user pressed the button that shows and hides the panel.
    public static let clickMoreButton = Event(number: 1)
    /// The user touched the text field.
    public static let tapTextField = Event(number: 2)
    /// The user touched somewhere outside of the input area.
    public static let tapBlankArea = Event(number: 3)

    /// The state has lasted as long as its ``Timeout`` says.
    static let timedOut = Event(number: .max)
  }

  /// A table whose states and events are names. Its initializer throws the first error.
  public typealias NamedTable = TransitionTable<String, String>
  /// The next state for one event in one state, by name.
  public typealias Row = NamedTable.Row

  /// A timeout of the configuration: a state that has lasted this long leads to the next state.
  public struct Timeout: Hashable, Sendable {
    /// How long the state lasts. Whole microseconds, above zero.
    public let after: Duration
    /// The name of the next state.
    public let next: String

    /// A state that has lasted for `after`, rounded up to a whole microsecond, leads to `next`.
    public init(after: Duration, next: String) {
      (self.after, self.next) = (after.roundedUpToMicroseconds, next)
    }
  }

  /// The name of the event of every ``Timeout``. The configuration rejects it for other events.
  public static let timedOut = "timedOut"

  /// The maximum number of states in a table, and of events.
  public static let maxNames = 64

  /// The maximum length of a name, in bytes.
  public static let maxNameBytes = 32

  /// The shipped table. Its states are a text field that is not being edited, a bar that records
  /// speech, a text field with the cursor in it, and the panel of emoji, pictures and files.
  public static let shipped = CompiledTable(
    states: shippedStates, initial: "prepareToEditText", events: shippedRows.map(\.event),
    rows: shippedRows.flatMap { event, nextStates in
      zip(shippedStates, nextStates).compactMap { state, next in
        next.map { Row(state, event, $0) }
      }
    })

  private static let shippedStates = [
    "prepareToEditText", "prepareToRecord", "editingText", "showingPanel",
  ]

  /// For each event, the next states in the order of `shippedStates`; `nil` where a state ignores
  /// the event. The bar that records has no text field, and a tap elsewhere does not close the bar.
  private static let shippedRows: [(event: String, nextStates: [String?])] = [
    (
      "clickSwitchButton",
      ["prepareToRecord", "editingText", "prepareToRecord", "prepareToRecord"]
    ),
    ("clickMoreButton", ["showingPanel", "showingPanel", "showingPanel", "prepareToEditText"]),
    ("tapTextField", ["editingText", nil, nil, "editingText"]),
    ("tapBlankArea", [nil, nil, "prepareToEditText", "prepareToEditText"]),
  ]

  /// The names of the states, in the order of their numbers.
  private let namesOfStates: [String]
  /// The names of the events, in the order of their numbers: first the shipped events, whether or
  /// not the table has them.
  private let namesOfEvents: [String]
  /// The events that the table has.
  public let events: [Event]
  /// The state that a new machine is in.
  public let initial: State
  /// The next state for each pair of state and event; `nil` if the state ignores the event.
  private let nextStates: [State?]
  /// The timeout of each state; empty if no state has one.
  private let timeouts: [CompiledTimeout?]

  private struct CompiledTimeout: Hashable, Sendable {
    let after: Duration
    let next: State
  }

  /// The compiled form of a table, with at most ``maxNames`` states, and at most as many events.
  ///
  /// - Parameter timeouts: the timeouts by the names of their states, which `table` must have.
  public init(_ table: NamedTable, timeouts: [String: Timeout] = [:]) {
    self.init(
      states: table.states, initial: table.initial, events: table.events, rows: table.rows,
      timeouts: timeouts)
  }

  /// A table of rows that have no faults. This does not check the rows: a check of the shipped rows
  /// would delay the start of every program.
  private init(
    states: [String], initial: String, events: [String], rows: [Row],
    timeouts: [String: Timeout] = [:]
  ) {
    precondition(max(states.count, events.count) <= Self.maxNames)
    func number(_ name: String, _ names: [String]) -> UInt8 {
      guard let index = names.firstIndex(of: name) else { preconditionFailure("unknown '\(name)'") }
      return UInt8(clamping: index)
    }
    let shipped = Self.shippedRows.map(\.event)
    let eventNames = shipped + events.filter { !shipped.contains($0) }
    namesOfStates = states
    namesOfEvents = eventNames
    self.initial = State(number: number(initial, states))
    self.events = events.map { Event(number: number($0, eventNames)) }
    var nextStates = [State?](repeating: nil, count: states.count * eventNames.count)
    for row in rows {
      let index =
        Int(number(row.state, states)) * eventNames.count + Int(number(row.event, eventNames))
      nextStates[index] = State(number: number(row.next, states))
    }
    self.nextStates = nextStates
    self.timeouts =
      timeouts.isEmpty
      ? []
      : states.map { state in
        timeouts[state].map {
          CompiledTimeout(after: $0.after, next: State(number: number($0.next, states)))
        }
      }
  }

  /// The state of this name, or `nil`.
  public func state(named name: String) -> State? {
    namesOfStates.firstIndex(of: name).map { State(number: UInt8(clamping: $0)) }
  }

  /// The event of this name, or `nil` if the table does not have it.
  public func event(named name: String) -> Event? {
    events.first { self.name(ofEvent: $0) == name }
  }

  /// The name of `state` that programs receive.
  public func name(of state: State) -> String { namesOfStates[Int(state.number)] }

  /// The name of `event` that programs receive.
  public func name(ofEvent event: Event) -> String {
    event == .timedOut ? Self.timedOut : namesOfEvents[Int(event.number)]
  }

  /// Every state.
  public var states: [State] { namesOfStates.indices.map { State(number: UInt8(clamping: $0)) } }

  /// Every event that the table has, and `timedOut` if it has timeouts.
  public var samples: [Sample<Event>] {
    (events + (timeouts.isEmpty ? [] : [.timedOut])).map { Sample($0) }
  }

  /// The names of the events that keys and programs send.
  public var sentEventNames: [String] { events.map(name(ofEvent:)) }

  /// All rows, state by state; no timeouts.
  public var rows: [Row] {
    states.flatMap { state in
      events.compactMap { event in
        next(state, on: event).map { Row(name(of: state), name(ofEvent: event), name(of: $0)) }
      }
    }
  }

  /// The next state by the row or the timeout for `event`; `nil` if `state` ignores `event`.
  public func next(_ state: State, on event: Event) -> State? {
    if event == .timedOut { return compiledTimeout(of: state)?.next }
    // An event of a larger table may be out of range here; it is ignored.
    guard event.number < namesOfEvents.count else { return nil }
    return nextStates[Int(state.number) * namesOfEvents.count + Int(event.number)]
  }

  /// Whether any state has a timeout.
  public var hasTimeouts: Bool { !timeouts.isEmpty }

  /// The timeout of `state`, if it has one.
  public func timeout(of state: State) -> (after: Duration, event: Event)? {
    compiledTimeout(of: state).map { ($0.after, .timedOut) }
  }

  /// The timeout of the state of this name, if it has one.
  public func timeout(ofStateNamed name: String) -> Timeout? {
    state(named: name).flatMap(compiledTimeout)
      .map { Timeout(after: $0.after, next: self.name(of: $0.next)) }
  }

  private func compiledTimeout(of state: State) -> CompiledTimeout? {
    timeouts.isEmpty ? nil : timeouts[Int(state.number)]
  }
}
