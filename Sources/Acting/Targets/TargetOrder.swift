/// What the user's service manager is asked to do with a target.
struct TargetOrder: Hashable, Sendable {
  enum Verb: Hashable, Sendable { case start, stop }

  let verb: Verb
  let unit: TargetUnit
}

/// What the service manager says of a target.
struct ListedTarget {
  let unit: TargetUnit
  let isActive: Bool
  /// The job that is under way for it, if that starts or stops it.
  var job: (verb: TargetOrder.Verb, number: UInt32)?
}
