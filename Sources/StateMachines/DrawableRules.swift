/// Rules that say which states and events there are, so that all of the machine can be walked:
/// drawn, checked, or listed.
///
/// Where states and events are enumerations that list their cases (`CaseIterable`), there is nothing
/// to write. Otherwise name a state for each case, and a sample of an event for each way in which its
/// payload can decide.
public protocol DrawableRules: Rules {
  /// Every state, the initial one among them. One of each name is enough where a payload is decided
  /// against by ``samples``.
  var states: [State] { get }

  /// Every event, in every way that makes a difference.
  var samples: [Sample<Event>] { get }
}

/// An event that stands for all that do the same.
public struct Sample<Event: Sendable>: Sendable {
  /// What the event is called, without its payload.
  public let name: String
  /// What its payload must be like to do what it does, such as `< 500 ms`; `nil` where there is only
  /// one way. Shown only where it decides.
  public let condition: String?
  /// The event.
  public let event: Event

  /// The sample `event`, which stands for all of its name, or for those `where` this holds.
  ///
  /// - Parameter name: by default the name of the enumeration's case.
  public init(_ event: Event, named name: String? = nil, where condition: String? = nil) {
    self.event = event
    self.name = name ?? caseName(event)
    self.condition = condition
  }
}

extension DrawableRules where State: CaseIterable {
  /// All cases.
  public var states: [State] { Array(State.allCases) }
}

extension DrawableRules where Event: CaseIterable {
  /// All cases.
  public var samples: [Sample<Event>] { Event.allCases.map { Sample($0) } }
}

extension DrawableRules {
  /// The names of the states, each once, in their order.
  public var stateNames: [String] {
    states.map(name).reduce(into: []) { names, name in
      if !names.contains(name) { names.append(name) }
    }
  }

  /// The names of the states that some event leads to from a state of this state's name, in the order
  /// of the rules.
  public func nextStates(from state: State) -> [String] {
    let from = name(of: state)
    let next = Set(Diagram(of: self).arrows.filter { $0.from == from }.map(\.to))
    return stateNames.filter(next.contains)
  }

  /// The names of states that can be reached, or begun with, but are not among ``states``. There should
  /// be none.
  public var unknownStates: [String] {
    let named = [name(of: initial)] + Diagram(of: self).arrows.map(\.to)
    return named.reduce(into: []) { unknown, name in
      if !stateNames.contains(name), !unknown.contains(name) { unknown.append(name) }
    }
  }

  /// Arrows from one state with one label that go to several states. There should be none: δ is a
  /// function, so ``samples`` then lack the conditions that tell them apart.
  public var ambiguousArrows: [Diagram.Arrow] {
    let arrows = Diagram(of: self).arrows
    return arrows.filter { arrow in
      arrows.contains { $0.from == arrow.from && $0.label == arrow.label && $0.to != arrow.to }
    }
  }

  /// The names of the states that no sequence of events leads to from the initial one.
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

  /// The names of the states that no event leads out of. Some machines are meant to end.
  public var deadStates: [String] {
    let left = Set(Diagram(of: self).arrows.filter { $0.from != $0.to }.map(\.from))
    return stateNames.filter { !left.contains($0) }
  }
}
