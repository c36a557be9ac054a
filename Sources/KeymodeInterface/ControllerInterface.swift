/// The Varlink interface `org.keymoded.Controller`: its text and the names in it.
public enum ControllerInterface {
  /// The name of the interface.
  public static let name = "org.keymoded.Controller"
  /// Returns the states of both machines.
  public static let getState = "\(name).GetState"
  /// Returns the states, and then reports every change.
  public static let monitor = "\(name).Monitor"
  /// Returns the states, events and transitions of both machines.
  public static let listMachines = "\(name).ListMachines"
  /// Sends an event to a machine.
  public static let trigger = "\(name).Trigger"
  /// Returns the devices that the daemon follows.
  public static let listDevices = "\(name).ListDevices"
  /// Returns the statistics of the daemon.
  public static let getStatistics = "\(name).GetStatistics"
  /// The error for a connection beyond the limit of clients.
  public static let tooManyClients = "\(name).TooManyClients"

  /// The text of the interface, as `varlinkctl introspect` shows it.
  public static let description = """
    # The modes of a physical keyboard: Shift as on a phone, and what the input
    # area of a chat program shows. All times are in microseconds on
    # CLOCK_BOOTTIME, or on the clock of the recording that is being served.
    interface org.keymoded.Controller

    # The states of both machines.
    # instance: names the life of the sequence; another instance counts anew.
    # sequence: the number of the last change, 0 before the first.
    # time: when this was said.
    # shift: off, on or capsLock.
    # keyboard: prepareToEditText, prepareToRecord, editingText or showingPanel, or
    # what the configuration has in place of them or besides; see ListMachines.
    # shiftSince, keyboardSince: when the state was entered; null before the
    # first change.
    type State (
      instance: string,
      sequence: int,
      time: int,
      shift: string,
      shiftSince: ?int,
      keyboard: string,
      keyboardSince: ?int
    )

    # One transition of one machine. The order of changes is their sequence,
    # which has no gap; their times may step back.
    # event: what made it, as in ListMachines: an event of Trigger, or, where the
    # configuration has shift.timeout, timedOut, at the microsecond at which Shift
    # had been on for so long; or 'configured' where a new configuration has the
    # state no more that was left.
    type Change (
      sequence: int,
      time: int,
      machine: string,
      from: string,
      to: string,
      event: string
    )

    # Tells the states.
    method GetState() -> (state: State)

    # Tells the states at once, and then every change. Needs 'more'.
    # With both 'after' and 'instance', as a client that lost its connection knows
    # them, the first reply also has the changes since. 'missed' counts changes
    # that could not be sent, because they are too old or the client was too slow:
    # those between the last of 'changes', if there are any, and 'state'. It is
    # null where their number is not known, since the instance is another.
    method Monitor(after: ?int, instance: ?string) -> (
      state: State,
      changes: []Change,
      missed: ?int
    )

    # What an event does in a state of a machine. Where there is no row, nothing.
    # condition: what decides between rows of one state and event, such as
    # '< 500 ms' since the state was entered; null where there is only one.
    type Row (
      from: string,
      event: string,
      to: string,
      condition: ?string
    )

    # A machine, with all states that it can be in and all events that it takes.
    type Machine (
      name: string,
      initial: string,
      states: []string,
      events: []string,
      rows: []Row
    )

    # Tells what the machines are, by the rules that are in force.
    method ListMachines() -> (machines: []Machine)

    # Sends an event in place of a key: shiftPressed, characterTyped, or one of the
    # keyboard's, by default clickSwitchButton, clickMoreButton, tapTextField and
    # tapBlankArea.
    # Only on control.sock.
    method Trigger(event: string) -> (changed: bool, state: State)

    # A device that is followed.
    # node: where it is, such as /dev/input/event3.
    # vendor, product: four hexadecimal digits each, as the configuration has them.
    # keyboard: whether it is a whole keyboard, or only has a key that is bound.
    type Device (
      name: string,
      node: string,
      vendor: string,
      product: string,
      keyboard: bool
    )

    # Tells which devices are followed, in the order in which they were opened.
    # Only on control.sock.
    method ListDevices() -> (devices: []Device)

    # Tells how much the daemon has done since it was started. Nothing in it counts
    # keys, or moves with one that changes no state.
    # started, time: when that was, and when this was said; on CLOCK_BOOTTIME also
    # where a recording is being served.
    # changes: of the states.
    # clients: that are connected now.
    # missed: how often a client was told that it had missed changes.
    # devices: that are followed now.
    # losses: how often the kernel had to drop events of a device.
    # reloads: of the configuration, by SIGHUP, those that were refused included.
    # configuration: which one is in force. current: what the file had when the
    # daemon read it last. If it was bad then, lastGood: the one before it, or
    # defaults: there was none before it.
    # Only on control.sock.
    method GetStatistics() -> (
      started: int,
      time: int,
      changes: int,
      clients: int,
      missed: int,
      devices: int,
      losses: int,
      reloads: int,
      configuration: (current, lastGood, defaults)
    )

    # There is no place for another client on this socket now. Said as soon as
    # it connects, and the connection is closed; later there may be one.
    error TooManyClients ()

    """
}
