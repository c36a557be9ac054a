# Completion of keymodectl(1) for fish.

set -l commands state watch wait while trigger targets shift seat devices stats graph replay record keys recipe doctor help

complete -c keymodectl -f
complete -c keymodectl -n 'not __fish_seen_subcommand_from wait while targets shift seat graph record keys recipe doctor help' -l json \
  -d 'Print JSON lines'
complete -c keymodectl -n 'not __fish_seen_subcommand_from replay record keys recipe help' -l socket-dir -x -a '(__fish_complete_directories)' -d 'The directory of the sockets'
complete -c keymodectl -n 'not __fish_seen_subcommand_from watch while targets shift seat replay record keys recipe help' -l timeout -x -d 'Give up after this many seconds'
complete -c keymodectl -s V -l version -d 'Print the version'
complete -c keymodectl -s h -l help -d 'Print help'

set -l no_command "not __fish_seen_subcommand_from $commands"
complete -c keymodectl -n $no_command -a state -d 'Print the states, or one of them'
complete -c keymodectl -n $no_command -a watch -d 'Show the states and every change'
complete -c keymodectl -n $no_command -a wait -d 'Wait until the machines are in these states'
complete -c keymodectl -n $no_command -a while -d 'Run a command while the machines are in these states'
complete -c keymodectl -n $no_command -a trigger -d 'Send an event instead of a key'
complete -c keymodectl -n $no_command -a targets -d 'Let services start and stop with the states'
complete -c keymodectl -n $no_command -a shift -d 'Let Shift type, by a virtual keyboard'
complete -c keymodectl -n $no_command -a seat -d 'Let the person in front read the states'
complete -c keymodectl -n $no_command -a devices -d 'Print the devices that the daemon follows'
complete -c keymodectl -n $no_command -a stats -d 'Print statistics of the daemon'
complete -c keymodectl -n $no_command -a graph -d 'Print the diagram of a machine'
complete -c keymodectl -n $no_command -a replay -d 'Print the changes that recordings make'
complete -c keymodectl -n $no_command -a record -d 'Record keyboards'
complete -c keymodectl -n $no_command -a keys -d 'Show what pressed keys are called and bound to'
complete -c keymodectl -n $no_command -a recipe -d 'Install a recipe with a key of your own'
complete -c keymodectl -n $no_command -a doctor -d 'Say what works, and what mends the rest'
complete -c keymodectl -n $no_command -a help -d 'Show the options of a command, and examples'
complete -c keymodectl -n '__fish_seen_subcommand_from help' -a "$commands"

complete -c keymodectl -n '__fish_seen_subcommand_from state graph watch' \
  -a '(keymodectl __names machines 2>/dev/null)'

set -l watch '__fish_seen_subcommand_from watch'
complete -c keymodectl -n $watch -l lines -d 'Print lines on a terminal too'
complete -c keymodectl -n $watch -l format -x -d 'Print a text with {shift}, {keyboard} and others'
complete -c keymodectl -n $watch -l waybar -d 'Print JSON for a custom module of Waybar'

set -l wait '__fish_seen_subcommand_from wait while'
complete -c keymodectl -n $wait -a '(keymodectl __names conditions 2>/dev/null)'
complete -c keymodectl -n '__fish_seen_subcommand_from watch wait while' -l no-wait \
  -d 'Do not wait for a daemon'

set -l running '__fish_seen_subcommand_from while'
complete -c keymodectl -n $running -l grace -x -d 'Kill what has not ended after this time'
complete -c keymodectl -n $running -l anew -d 'Count a state only when it is entered from now on'
complete -c keymodectl -n $running -l once -d 'Run the command a single time'
complete -c keymodectl -n $running -l quiet -d 'Do not say what is waited for, started and ended'
complete -c keymodectl -n $running -l any-session -d 'Do not look at sessions'

complete -c keymodectl -n '__fish_seen_subcommand_from trigger' \
  -a '(keymodectl __names events 2>/dev/null)'


set -l targets '__fish_seen_subcommand_from targets'
complete -c keymodectl -n $targets -l shift -d 'For the states of Shift too'
complete -c keymodectl -n $targets -l locks -d 'For Caps Lock and Num Lock too'
complete -c keymodectl -n $targets -l any-session -d 'Do not look at the session'

# The word may also be a machine.
set -l typing '__fish_seen_subcommand_from shift; and not __fish_seen_subcommand_from state graph watch'
complete -c keymodectl -n $typing -l caps-lock -d 'Turn Caps Lock on in capsLock'
complete -c keymodectl -n $typing -l one-shot -d 'Hold Shift in on'
complete -c keymodectl -n $typing -l at-most -x -d 'Hold Shift at most this long'
complete -c keymodectl -n $typing -l any-session -d 'Do not look at the session'

complete -c keymodectl -n '__fish_seen_subcommand_from graph replay record keys recipe doctor' -l config -r -F \
  -d 'Use the settings of a file'

set -l graph '__fish_seen_subcommand_from graph'
complete -c keymodectl -n $graph -l format -x -a 'dot mermaid' -d 'The language'
complete -c keymodectl -n $graph -l current -d 'Draw the rules of the daemon and mark its state'

set -l replay '__fish_seen_subcommand_from replay'
complete -c keymodectl -n $replay -F
complete -c keymodectl -n $replay -l format -x \
  -a 'evemu libinput evtest getevent raw64 raw32' -d 'The format'
complete -c keymodectl -n $replay -l from -x -d 'Begin at this time'
complete -c keymodectl -n $replay -l until -x -d 'End at this time'
complete -c keymodectl -n $replay -l each -d 'Replay each recording by itself'
complete -c keymodectl -n $replay -l files0-from -r -F -d 'Also replay the files of a list'
complete -c keymodectl -n $replay -l timeline -r -F -d 'Draw the changes as SVG'
complete -c keymodectl -n $replay -l lenient -d 'Skip errors and count them'

set -l record '__fish_seen_subcommand_from record'
complete -c keymodectl -n '__fish_seen_subcommand_from record keys' -a '(for node in /dev/input/event*; echo $node; end)'
complete -c keymodectl -n $record -l output -r -F -d 'Write to a file'
complete -c keymodectl -n $record -l show-keycodes -d 'Do not redact'

set -l recipe '__fish_seen_subcommand_from recipe'
complete -c keymodectl -n $recipe -a '(keymodectl __names recipes 2>/dev/null)'
complete -c keymodectl -n $recipe -l key -x -d 'The key, such as F9 or Ctrl+Space'
complete -c keymodectl -n $recipe -l remove -d 'Remove the recipe'
