/// How far a subscriber has been sent the changes.
struct SubscriberPosition: Equatable {
  /// The number of the last change that it was sent, or was told that it missed.
  var sequence: Int64

  /// The number of the last change of a message of which only a part was sent.
  var endOfMessage: Int64?
}
