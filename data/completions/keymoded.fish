# Completion of keymoded(8) for fish.

complete -c keymoded -f
complete -c keymoded -l config -r -F -d 'Read this file'
complete -c keymoded -l check -d 'Only check the configuration'
complete -c keymoded -l print-config -d 'Only print the configuration'
complete -c keymoded -l device -x -a '(for node in /dev/input/event*; echo $node; end)' \
  -d 'Follow this device'
complete -c keymoded -l recording -r -F -d 'Play a recording instead of devices'
complete -c keymoded -l speed -x -a max -d 'Play the recording this many times as fast'
complete -c keymoded -l socket-dir -x -a '(__fish_complete_directories)' -d 'Create the sockets in this directory'
complete -c keymoded -l version -d 'Print the version'
complete -c keymoded -l help -d 'Print a summary'
