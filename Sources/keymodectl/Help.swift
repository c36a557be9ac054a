import SystemCalls

/// The text of `--help`.
let help: TerminalText = """
  usage: keymodectl COMMAND [OPTION]...

  Queries and controls keymoded, and replays recordings of keyboards.

    state [shift|keyboard]   print the states, or one of them
    watch                    show the states and every change: on a terminal as a
                             live view, elsewhere as lines
    wait MACHINE=STATE...    wait until the machines are in these states
    while MACHINE=STATE... -- COMMAND...
                             run a command while the machines are in these states
    targets                  keep the targets of the present states active in the
                             user's systemd, until interrupted
    trigger EVENT            send an event instead of a key
    focus                    send tapTextField when a text field of the desktop
                             gets the focus, and tapBlankArea when none has it
    devices                  print the followed devices
    stats                    print statistics of the daemon
    graph shift|keyboard     print the diagram of a machine; needs no daemon
    replay FILE...           print the changes that recordings make, merged by
                             time; needs no daemon; '-' is standard input
    record [DEVICE]...       record these keyboards, or all; needs no daemon
    keys [DEVICE]...         show what each key that is pressed is called and
                             bound to; needs no daemon

    --json                   all but wait, while, focus, targets, graph, record
                             and keys: print JSON lines
    --socket-dir DIR         all but replay, record and keys: the directory of the
                             daemon's sockets; by default $KEYMODED_SOCKET_DIR,
                             $XDG_RUNTIME_DIR/keymoded or /run/keymoded
    --timeout SECONDS        all but watch, while, focus, targets, replay, record
                             and keys: give up after this time, by default 5
                             seconds; wait then exits with 1, and by default never
                             gives up
    --config FILE            replay, record, draw or show keys with the settings
                             of FILE
    --version                print the version
    --help                   print this summary

  watch
    --lines                  print lines on a terminal too
    --format TEXT            for a status bar: print TEXT whenever it changes, the
                             states instead of {shift} and {keyboard}
    --waybar                 the same as JSON for a custom module of Waybar

  while
    --grace TIME             how long the command may take to end before it is
                             killed; by default 3s
    --once                   run the command a single time, and exit as it does
    --any-session            also while your session is locked, or not the active
                             one of its seat

  focus
    --any-session            also while your session is locked, or not the active
                             one of its seat

  targets
    --shift                  for the states of Shift too, not the keyboard's alone
    --any-session            also while your session is locked, or not the active
                             one of its seat

  graph
    --format LANGUAGE        dot (the default), mermaid or plantuml
    --current                draw the rules of the daemon and mark its state

  replay
    --format FORMAT          evemu, libinput, evtest, getevent, raw64 or raw32; by
                             default replay detects the format
    --expect FILE            compare the changes with those in FILE, the output of
                             replay or watch with --json
    --from T, --until T      begin and end at these times, in seconds
    --stats                  count the events of the recording
    --timeline FILE          draw the changes into FILE, as SVG
    --lenient                skip errors and count them

  record
    --output FILE            write to the new file FILE; by default to standard
                             output
    --format FORMAT          evemu (the default for one keyboard) or libinput
    --show-keycodes          do not redact: the recording shows what is typed

  Events: shiftPressed characterTyped clickSwitchButton clickMoreButton
  tapTextField tapBlankArea

  Exit status: 0 done; 1 the event changed nothing, the states did not come in
  time, the changes differ, a recorded device was removed, or the system refused
  an operation; 2 wrong usage; 3 no daemon or no answer; 4 invalid configuration
  or recording; 5 permission denied. while --once exits with the status of the
  command, as shells do: 127 if there is no such command, 126 if it cannot run.
  """
