/// What the user's service manager is asked to do with a target.
struct TargetOrder: Hashable, Sendable {
  enum Verb: Hashable, Sendable { case start, stop }

  let verb: Verb
  let unit: TargetUnit
}

/// What the service manager says of a target.
struct ListedTarget: Hashable, Sendable {
  let unit: TargetUnit
  let isActive: Bool
  /// The job that is under way for it, if that starts or stops it.
  let job: (verb: TargetOrder.Verb, number: UInt32)?

  init(_ unit: TargetUnit, isActive: Bool, job: (verb: TargetOrder.Verb, number: UInt32)? = nil) {
    (self.unit, self.isActive, self.job) = (unit, isActive, job)
  }

  static func == (a: ListedTarget, b: ListedTarget) -> Bool {
    a.unit == b.unit && a.isActive == b.isActive && a.job?.verb == b.job?.verb
      && a.job?.number == b.job?.number
  }

  func hash(into hasher: inout Hasher) { hasher.combine(unit) }
}
