# Completion of keymoded(8) for bash, with bash-completion.

_keymoded() {
  local cur prev words cword split
  _init_completion -s || return
  case $prev in
    --config | --recording)
      _filedir
      return
      ;;
    --device)
      COMPREPLY=($(compgen -W "$(compgen -G '/dev/input/event*')" -- "$cur"))
      return
      ;;
    --speed)
      COMPREPLY=($(compgen -W 'max' -- "$cur"))
      return
      ;;
    --socket-dir)
      _filedir -d
      return
      ;;
  esac
  $split && return
  local options='--config --check --print-config --device --recording --speed --socket-dir --version --help'
  COMPREPLY=($(compgen -W "$options" -- "$cur"))
} && complete -F _keymoded keymoded
