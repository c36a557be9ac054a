import StateMachines

/// The keyboard machine that runs: the shipped table, ``KeyboardRules``, or what a user made of it.
///
/// States and events are numbers within their table, so that a step is one look into an array, however
/// many there are. What programs are told is their names.
public struct KeyboardTable: DrawableRules, Hashable {
  /// A state of one table.
  public struct State: Hashable, Sendable {
    fileprivate let number: UInt8
  }

  /// An event. The shipped ones are the same in every table; others belong to theirs.
  public struct Event: Hashable, Sendable {
    fileprivate let number: UInt8

    /// Pressed the button that switches between text and speech.
    public static let clickSwitchButton = Event(number: 0)
    /// Pressed the button that shows and hides the panel.
    public static let clickMoreButton = Event(number: 1)
    /// Touched the text field.
    public static let tapTextField = Event(number: 2)
    /// Touched somewhere outside of the input area.
    public static let tapBlankArea = Event(number: 3)
  }

  /// What one event does in one state, by their names.
  public typealias Row = TransitionTable<String, String>.Row

  /// A table has at most so many states, and so many events.
  public static let most = 64

  /// A name has at most so many bytes.
  public static let longestName = 32

  /// The shipped table.
  public static let standard: KeyboardTable = {
    let rules = KeyboardRules()
    var rows: [Row] = []
    for state in KeyboardRules.State.allCases {
      for event in KeyboardRules.Event.allCases {
        guard let next = rules.next(state, on: event) else { continue }
        rows.append(Row(state.name, event.name, next.name))
      }
    }
    return KeyboardTable(
      states: KeyboardRules.State.allCases.map(\.name), initial: rules.initial.name,
      events: KeyboardRules.Event.allCases.map(\.name), rows: rows)
  }()

  private static let shippedEvents = KeyboardRules.Event.allCases.map(\.name)

  /// The names of the states, in the order of their numbers.
  private let namesOfStates: [String]
  /// The names of the events, likewise: first the shipped ones, whether the table has them or not.
  private let namesOfEvents: [String]
  /// The events that the table has.
  public let events: [Event]
  /// The state that a new machine is in.
  public let initial: State
  /// Where each event leads from each state.
  private var nextStates: [State?]

  /// A table that is known to be sound: no name stands among the states, or among the events, twice;
  /// there is at least one state; `initial` and all that is in a row is among them; and no two rows say
  /// what one event does in one state. Otherwise the first of them counts, and rows that name what is
  /// not there do not.
  public init(states: [String], initial: String, events: [String], rows: [Row]) {
    namesOfStates = states
    namesOfEvents = Self.shippedEvents + events.filter { !Self.shippedEvents.contains($0) }
    self.initial = State(number: UInt8(clamping: states.firstIndex(of: initial) ?? 0))
    nextStates = Array(repeating: nil, count: states.count * namesOfEvents.count)
    self.events = events.compactMap { [namesOfEvents] name in
      namesOfEvents.firstIndex(of: name).map { Event(number: UInt8(clamping: $0)) }
    }
    for row in rows {
      guard let state = self.state(named: row.state), let event = event(named: row.event),
        let next = self.state(named: row.next), nextStates[place(state, event)] == nil
      else { continue }
      nextStates[place(state, event)] = next
    }
  }

  /// The state of this name, or `nil`.
  public func state(named name: String) -> State? {
    namesOfStates.firstIndex(of: name).map { State(number: UInt8(clamping: $0)) }
  }

  /// The event of this name, or `nil` where the table has none.
  public func event(named name: String) -> Event? {
    events.first { self.name(of: $0) == name }
  }

  /// What programs are told.
  public func name(of state: State) -> String { namesOfStates[Int(state.number)] }

  /// What programs are told.
  public func name(of event: Event) -> String { namesOfEvents[Int(event.number)] }

  /// Every state.
  public var states: [State] { namesOfStates.indices.map { State(number: UInt8(clamping: $0)) } }

  /// The names of the events that the table has.
  public var eventNames: [String] { events.map(name) }

  /// Every event that the table has.
  public var samples: [Sample<Event>] { events.map { Sample($0, named: name(of: $0)) } }

  /// All rows, state by state.
  public var rows: [Row] {
    states.flatMap { state in
      events.compactMap { event in
        next(state, on: event).map { Row(name(of: state), name(of: event), name(of: $0)) }
      }
    }
  }

  /// The state in the row of this pair, or `nil` where there is no such row.
  public func next(_ state: State, on event: Event) -> State? {
    // An event of another table means nothing in this one.
    event.number < namesOfEvents.count ? nextStates[place(state, event)] : nil
  }

  private func place(_ state: State, _ event: Event) -> Int {
    Int(state.number) * namesOfEvents.count + Int(event.number)
  }
}
