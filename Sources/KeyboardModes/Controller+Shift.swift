/// What makes a press of Shift part of a shortcut. On a phone Shift is pressed for itself; on a
/// keyboard it is mostly held for another key.
///
/// - A Shift pressed while Ctrl, left Alt, Meta, a key that moves the cursor or the button of a
///   pointer is held is part of a shortcut, and no event.
/// - A press that sent `shiftPressed` is *open* while its key is down. If a key goes down that types no
///   character, Shift is part of its shortcut: ``ShiftRules/Event/shiftUsed(back:)`` takes the press
///   back, and all others that are open, to the state before the earliest.
///
///       Shift   P-----------R         P: its press, R: its release
///       Left       P--R
///       Shift   on off                the state of the Shift machine
///
///   A typed character, an event of a program, a timeout, a loss of events and new settings close all
///   open presses: they were meant for themselves. AltGr does nothing here, and neither do the codes
///   of game pads, fingers and pens.
///
/// With ``Settings/ShiftTrigger/always`` neither rule applies, and for a tap only the first.
extension Controller {
  /// Whether Shift belongs to a shortcut if it is pressed while these modifiers are held.
  func belongsToShortcut(_ held: Modifiers) -> Bool {
    guard settings.shiftTrigger != .always else { return false }
    return !held.isDisjoint(with: .commands)
      || keys.isNavigating(orUsingButtons: settings.pointers)
  }

  /// Takes open presses of Shift back, because another key is pressed at `time`.
  mutating func takeShiftBack(at time: Time, _ publish: (Change) -> Void) {
    guard !openShifts.isEmpty, let before = openShifts.stateBefore else { return }
    openShifts.removeAll()
    send(.shiftUsed(back: inTime(before, at: time)), at: time, publish)
  }

  /// The state, or `off` for an `on` whose timeout is over by `time`.
  private func inTime(_ state: ShiftRules.State, at time: Time) -> ShiftRules.State {
    guard case .on(let since?) = state, let timeout = shift.rules.timeout,
      let due = since.advanced(by: timeout), due <= time
    else { return state }
    return .off
  }
}
