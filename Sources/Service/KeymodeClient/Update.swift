public import KeyboardModes
public import Wire

/// One element of ``Client/changes``.
///
/// The updates are complete: every change of the subscribed machines comes once and in order, or is
/// counted as missed. `.states` comes after all updates about the time before it.
///
///     .states  .change .change  .disconnected  .change .states     restarted, nothing missed
///     .states  .change  .missed(12) .states  .change               read too slowly
///     .states  .disconnected  .missed(nil) .states                 restarted without a memory
public enum Update: Sendable, Hashable {
  /// The present states: first, after missed changes or a reconnect, and when the machines change.
  case states(StateMessage)
  /// One transition of one machine.
  case change(Change)
  /// This many changes were missed; `nil` if their number is unknown. `.states` follows.
  case missed(Int64?)
  /// There is no connection to the daemon, for this reason. The subscription tries again by itself.
  case disconnected(ClientError)
}
