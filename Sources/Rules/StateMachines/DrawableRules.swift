/// Rules that list their states and events, so that the whole machine can be drawn, checked or
/// listed.
///
/// For states and events that are `CaseIterable` enumerations, the lists have default
/// implementations. Otherwise list one state for each case, and for each event one sample for each
/// way in which its payload can decide the next state.
public protocol DrawableRules<State, Event>: Rules {
  /// Every state, including the initial one. One state of each name is enough, unless its payload
  /// can decide what an event does.
  var states: [State] { get }

  /// Samples of all events. An event whose payload decides its effect has a sample for each effect.
  var samples: [Sample<Event>] { get }

  /// The condition that tells `state` from other states of the same name, such as `the last
  /// article`; `nil` if the payload never decides what an event does. The default is `nil`.
  func condition(of state: State) -> String?

  /// How long `state` has to last to cause `event`; `nil` if time does not cause it. The default is
  /// the timeout of ``TimedRules``, and `nil` for other rules.
  func delay(of event: Event, in state: State) -> Duration?
}

/// An event that represents all events with the same effect.
public struct Sample<Event> {
  /// The condition on the payload for this effect, such as `< 500 ms`; `nil` if the payload never
  /// decides. Diagrams show the condition only where it decides.
  public let condition: String?
  /// An event with this effect.
  public let event: Event

  /// A sample that represents all events of its name, or only the events that meet `condition`.
  public init(_ event: Event, where condition: String? = nil) {
    self.event = event
    self.condition = condition
  }
}

extension Sample: Sendable where Event: Sendable {}

extension DrawableRules where State: CaseIterable {
  /// By default, all cases of the enumeration.
  public var states: [State] { Array(State.allCases) }
}

extension DrawableRules where Event: CaseIterable {
  /// By default, a sample of each case, without a condition.
  public var samples: [Sample<Event>] { Event.allCases.map { Sample($0) } }
}

extension DrawableRules where Self: TimedRules {
  /// The timeout of the state, if that timeout sends the event.
  public func delay(of event: Event, in state: State) -> Duration? {
    timeout(of: state).flatMap { name(ofEvent: $0.event) == name(ofEvent: event) ? $0.after : nil }
  }
}

extension DrawableRules {
  /// By default, no state has a condition.
  public func condition(of state: State) -> String? { nil }

  /// By default, time causes no event.
  public func delay(of event: Event, in state: State) -> Duration? { nil }

  /// The names of the states, each once, in their order.
  public var stateNames: [String] { states.map(name).withoutRepetitions }

  /// The names of the events, each once, in their order.
  public var eventNames: [String] { samples.map { name(ofEvent: $0.event) }.withoutRepetitions }

  /// The names of the states that no sequence of events can reach from the initial state.
  public var unreachableStates: [String] {
    let arrows = Diagram(of: self).arrows
    var reached: Set = [name(of: initial)]
    var size = 0
    while size < reached.count {
      size = reached.count
      for arrow in arrows where reached.contains(arrow.from) { reached.insert(arrow.to) }
    }
    return stateNames.filter { !reached.contains($0) }
  }
}

extension Sequence where Element: Hashable {
  /// Each element once, in the order of their first occurrences.
  var withoutRepetitions: [Element] {
    var seen: Set<Element> = []
    return filter { seen.insert($0).inserted }
  }
}
