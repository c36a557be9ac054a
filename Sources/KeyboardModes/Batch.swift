/// The inputs that a source hands over at once, and the time that it has reached.
public struct Batch: Sendable {
  /// The inputs, in the order in which they take effect.
  public var inputs: [Controller.Input]

  /// Everything that had happened by this time and was known has been handed over. Inputs of later
  /// batches are later than anything else that is done at this time.
  public var reached: Time

  /// Nothing of this time or earlier can be handed over any more, so a deadline up to here has come.
  /// The kernel may hand a key over some time after it has stamped it; see
  /// `Keyboards.lateness`.
  public var settled: Time

  /// A batch with these parts; without any, an empty one at time zero.
  public init(
    _ inputs: [Controller.Input] = [], reached: Time = Time(microseconds: 0),
    settled: Time = Time(microseconds: .min)
  ) {
    (self.inputs, self.reached, self.settled) = (inputs, reached, settled)
  }
}
