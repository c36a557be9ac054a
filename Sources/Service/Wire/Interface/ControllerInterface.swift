/// The Varlink interface `org.keymoded.Controller`: its text, and the names of its methods.
public enum ControllerInterface {
  /// The name of the interface.
  public static let name = "org.keymoded.Controller"
  /// Returns the states of all machines.
  public static let getState = "\(name).GetState"
  /// Returns the states, and then reports every change.
  public static let monitor = "\(name).Monitor"
  /// Returns the states, events and transitions of all machines.
  public static let listMachines = "\(name).ListMachines"
  /// Sends an event to a machine.
  public static let trigger = "\(name).Trigger"
  /// Returns the devices that the daemon follows.
  public static let listDevices = "\(name).ListDevices"
  /// Returns the statistics of the daemon.
  public static let getStatistics = "\(name).GetStatistics"
  /// Forgets all changes, and ends the connections of `state.sock`.
  public static let hangUp = "\(name).HangUp"
  /// The error for a connection beyond the limit of clients.
  public static let tooManyClients = "\(name).TooManyClients"

  /// The text of the interface, as `varlinkctl introspect` shows it.
  public static let description = """
    # The modes of a physical keyboard: Shift as on a phone, and what the input
    # area of a chat program shows. All times are in microseconds on
    # CLOCK_BOOTTIME, or on the clock of the recording that is being played.
    interface org.keymoded.Controller

    # The states of all machines.
    # instance: the name of this sequence of changes; a new one begins again at 1.
    # sequence: the number of the last change, 0 before the first.
    # time: when this message was written.
    # shiftTrigger: when a press of Shift counts, by the configuration.
    # states: the state of each machine. shift is off, on or capsLock. keyboard is
    # prepareToEditText, prepareToRecord, editingText, showingPanel, or a state that
    # the configuration defines. caps and num, the locks, are on or off as the LEDs
    # of the keyboards show, or unknown if no keyboard has the LED or it changes too
    # fast to tell. The configuration may define further machines.
    # since: when the state was entered; lacks a machine before its first change.
    type State (
      instance: string,
      sequence: int,
      time: int,
      shiftTrigger: (press, tap, always),
      states: [string]string,
      since: [string]int
    )

    # One transition of one machine. Changes are ordered by sequence, which has no
    # gaps; a change may have an earlier time than the one before it.
    # event: the event that caused it. This is an event of Trigger; or shiftUsed, if
    # a press of Shift was part of a shortcut and is taken back; or timedOut, if
    # the state had lasted as long as the configuration says; or configured, if a
    # new configuration has removed the state 'from'; for caps and num it is ledOn,
    # ledOff or ledGone. Events have no machine's name: of talk.press it is press.
    type Change (
      sequence: int,
      time: int,
      machine: string,
      from: string,
      to: string,
      event: string
    )

    # Returns the states.
    method GetState() -> (state: State)

    # Returns the states at once, and then reports every change. Needs 'more'.
    # A client that has lost its connection gives the last sequence and instance
    # that it received as 'after' and 'instance'; the first reply then also has the
    # changes since. 'missed' is the number of changes that were not sent, because
    # they are too old or the client reads too slowly; they come after 'changes'
    # and before 'state'. 'restarted' tells that the sequence has a new instance, so
    # that the number of missed changes is unknown; 'missed' is 0 then.
    # machines: whose changes are reported, at least one, whether or not it is there
    # now; null for all. A client is not woken by changes of other machines, and
    # numbers that it does not receive are changes of those. 'sequence', 'after'
    # and 'missed' count the changes of all machines. If a new configuration has
    # other machines, all clients are sent the states, without a change.
    method Monitor(after: ?int, instance: ?string, machines: ?[]string) -> (
      state: State,
      changes: []Change,
      missed: int,
      restarted: bool
    )

    # One transition of a machine. A state ignores events for which it has no row.
    # condition: when this row applies, if one state and event have several rows,
    # such as '< 500 ms' since the state was entered, or if time causes the event,
    # such as 'after 10 min'; otherwise null.
    type Row (
      from: string,
      event: string,
      to: string,
      condition: ?string
    )

    # A machine: all its states, events and transitions.
    type Machine (
      name: string,
      initial: string,
      states: []string,
      events: []string,
      rows: []Row
    )

    # Returns all machines as the present configuration defines them: shift, keyboard,
    # those of the user's own in the order of their names, caps and num.
    method ListMachines() -> (machines: []Machine)

    # Sends an event instead of a key: shiftPressed, characterTyped, an event of the
    # keyboard machine, by default clickSwitchButton, clickMoreButton, tapTextField
    # and tapBlankArea, or an event of a machine of the user's own, such as talk.press.
    # Only on control.sock.
    method Trigger(event: string) -> (changed: bool, state: State)

    # A device whose keys the daemon follows.
    # node: the device node, such as /dev/input/event3.
    # vendor, product: four hexadecimal digits each, as in the configuration.
    # keyboard: true for a whole keyboard.
    # pointer: true for a mouse, a touchpad or a pointing stick, of which only the
    # buttons are followed. If both are false, the device has only some keys, such as
    # those for volume, or a power button.
    type Device (
      name: string,
      node: string,
      vendor: string,
      product: string,
      keyboard: bool,
      pointer: bool
    )

    # Returns the devices that the daemon follows, in the order of their opening.
    # Only on control.sock.
    method ListDevices() -> (devices: []Device)

    # A modifier or a pointer's button that this device has held for a minute, as if
    # it were stuck. Which key it is, is not told.
    # since: when it went down, on CLOCK_BOOTTIME.
    type Hold (
      device: string,
      kind: (modifier, button),
      since: int
    )

    # Returns statistics of the daemon. They count no keys, and a key that changes
    # no state changes none of them, unless it is held for a minute.
    # started, time: when the daemon was started, and when it replied; always on
    # CLOCK_BOOTTIME.
    # changes: the changes of states since then.
    # clients: the clients that are connected now.
    # missed: how often a client was told that it had missed changes.
    # devices: the devices that are followed now.
    # unopened: the devices that should be followed, but cannot be opened; null while a
    # recording is played.
    # losses: how often the kernel dropped events of a device.
    # reloads: how often the configuration was reloaded, by SIGHUP, including
    # refused reloads.
    # configuration: current, if the file was valid when it was last read;
    # otherwise lastGood, for the last valid configuration, or defaults, if there
    # was no valid one before.
    # Only on control.sock.
    method GetStatistics() -> (
      started: int,
      time: int,
      changes: int,
      clients: int,
      missed: int,
      devices: int,
      unopened: ?int,
      losses: int,
      reloads: int,
      configuration: (current, lastGood, defaults),
      held: []Hold
    )

    # Forgets all changes so far, and ends all connections of state.sock, also those
    # that have not been accepted yet. keymoded-seat.service calls it when another
    # person is in front. The states stay, and 'sequence' goes on: for a client that
    # asks for what came after an earlier change, that counts as missed.
    # Only on control.sock.
    method HangUp() -> ()

    # The daemon has as many clients on this socket as it can serve. It sends this
    # error to a new connection and closes it; the client may try again later.
    error TooManyClients ()

    """
}
