import SystemCalls

/// The text of `--help`.
let help: TerminalText = """
  usage: keymodectl COMMAND [OPTION]...

  Asks keymoded for the modes of the keyboard, or tells it of an event.

    state [shift|keyboard]   print the states, or one of them
    watch                    show the states and every change, live on a terminal,
                             otherwise a line each
    wait MACHINE=STATE...    wait until the machines are in these states
    trigger EVENT            send an event in place of a key
    devices                  print which devices are followed
    stats                    print how much the daemon has done
    graph shift|keyboard     print the diagram of a machine; needs no daemon
    replay FILE...           print the changes that recordings make, merged by
                             time; needs no daemon; '-' is standard input
    record [DEVICE]...       record these keyboards, or all; needs no daemon

    --json                   all but wait, graph and record: print JSON, a line
                             each
    --socket-dir DIR         all but replay and record: the daemon serves in DIR;
                             by default in $KEYMODED_SOCKET_DIR,
                             $XDG_RUNTIME_DIR/keymoded or /run/keymoded
    --timeout SECONDS        all but watch, replay and record: give up waiting for
                             the daemon after so long, by default after 5; wait
                             then exits with 1, and without it waits on
    --config FILE            replay, record or draw with the settings of FILE
    --version                print the version
    --help                   print this

  watch
    --lines                  a line each, on a terminal too
    --format TEXT            for a status bar: print TEXT, with the states in
                             place of {shift} and {keyboard}, when it is another
    --waybar                 likewise, as JSON for a custom module of Waybar

  graph
    --format LANGUAGE        dot, the default, or mermaid
    --current                mark the state that the daemon is in

  replay
    --format FORMAT          evemu, libinput, evtest, getevent, raw64 or raw32; by
                             default found by content
    --expect FILE            only tell whether the changes are those in FILE,
                             which --json printed
    --from T, --until T      show only what is from and until these seconds
    --stats                  count what the recording holds
    --timeline FILE          draw the changes into FILE, as SVG
    --lenient                pass over what is wrong, and count it

  record
    --output FILE            write to FILE, which must not be there yet; by
                             default to standard output
    --format FORMAT          evemu, the default for one device, or libinput
    --show-keycodes          do not redact: leave readable what is typed

  Events: shiftPressed characterTyped clickSwitchButton clickMoreButton
  tapTextField tapBlankArea

  Exit status: 0 done, 1 the answer is no or the system refused something,
  2 wrong usage, 3 no daemon or no answer, 4 bad input, 5 permission denied.
  """
