/// How far a subscriber has been told of the changes.
struct SubscriberPosition: Equatable {
  /// The number of the last change that it was sent, or was told that it missed.
  var sequence: Int64

  /// The number of the last change of the message that has begun, where more of that is to follow.
  var endOfMessage: Int64?
}
