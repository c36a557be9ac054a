public import KeyboardModes
public import KeymodeInterface

/// What somebody who follows the daemon is told.
///
/// All of it together is the whole truth: every change comes once and in order, or is counted as
/// missed. `.states` comes whenever all that could be told of the time before has been told.
///
///     .states  .change .change  .disconnected  .change .states     restarted, nothing missed
///     .states  .change  .missed(12) .states  .change               read too slowly
///     .states  .disconnected  .missed(nil) .states                 restarted without a memory
public enum Update: Sendable, Hashable {
  /// The states now: at first, after a gap, and when the daemon is there again.
  case states(StateMessage)
  /// One transition of one machine.
  case change(Change)
  /// So many changes could not be told; `nil` where nobody knows how many. `.states` follows.
  case missed(Int64?)
  /// The daemon is not there, or no longer, and this is why. It is waited for.
  case disconnected(ClientError)
}
