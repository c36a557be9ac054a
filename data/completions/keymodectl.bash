# Completion of keymodectl(1) for bash, with bash-completion.

# Completes a word by the names of a kind, which the daemon or the configuration has, between a prefix and a suffix.
# Where bash lists them, they have descriptions.
_keymodectl_names() {
  local kind=$1 word=$2 prefix=${3-} suffix=${4-} name meaning
  local -a meanings=()
  COMPREPLY=()
  while IFS=$'\t' read -r name meaning; do
    [[ $name == "$word"* ]] || continue
    COMPREPLY+=("$prefix$name$suffix")
    meanings+=("$meaning")
  done < <(keymodectl __names "$kind" 2>/dev/null)
  # 63 is '?': the list after a second Tab.
  ((${#COMPREPLY[@]} > 1)) && [[ ${COMP_TYPE-} == 63 ]] || return 0
  local index
  for index in "${!COMPREPLY[@]}"; do COMPREPLY[index]+="  (${meanings[index]})"; done
}

_keymodectl() {
  local cur prev words cword split
  _init_completion -s || return

  local commands='state watch wait while trigger targets shift seat devices stats graph replay record keys recipe doctor help'

  # The command is the first word that is neither an option nor the value of one.
  local command='' index
  for ((index = 1; index < cword; index++)); do
    case ${words[index]} in
      --socket-dir | --config | --timeout | --format | --from | --until | --timeline | --output | --grace | --at-most | --key)
        ((index++)) ;;
      -*) ;;
      *)
        command=${words[index]}
        break
        ;;
    esac
  done

  case $prev in
    --socket-dir)
      _filedir -d
      return
      ;;
    --config | --timeline | --output | --files0-from)
      _filedir
      return
      ;;
    --format)
      local formats=''
      case $command in
        graph) formats='dot mermaid' ;;
        replay) formats='evemu libinput evtest getevent raw64 raw32' ;;
      esac
      COMPREPLY=($(compgen -W "$formats" -- "$cur"))
      return
      ;;
    --timeout | --from | --until | --grace | --at-most | --key) return ;;
  esac
  $split && return

  if [[ $cur == -* ]]; then
    local options='--version --help'
    case $command in
      '' | state | trigger | devices | stats) options+=' --json --socket-dir --timeout' ;;
      watch) options+=' --json --socket-dir --no-wait' ;;
      while) options+=' --socket-dir --grace --anew --once --quiet --any-session --no-wait' ;;
      wait) options+=' --socket-dir --timeout --no-wait' ;;
      graph) options+=' --socket-dir --timeout' ;;
      targets) options+=' --socket-dir --shift --locks --any-session' ;;
      shift) options+=' --socket-dir --caps-lock --one-shot --at-most --any-session' ;;
      seat) options+=' --socket-dir' ;;
      replay) options+=' --json' ;;
    esac
    case $command in
      watch) options+=' --lines --format --waybar' ;;
      graph) options+=' --config --format --current' ;;
      replay)
        options+=' --config --format --from --until --each --files0-from --timeline --lenient'
        ;;
      record) options+=' --config --output --show-keycodes' ;;
      keys) options+=' --config' ;;
      recipe) options+=' --config --key --remove' ;;
      doctor) options+=' --config --socket-dir --timeout' ;;
    esac
    COMPREPLY=($(compgen -W "$options" -- "$cur"))
    return
  fi

  case $command in
    '' | help) COMPREPLY=($(compgen -W "$commands" -- "$cur")) ;;
    state | graph | watch) _keymodectl_names machines "$cur" ;;
    wait | while)
      if [[ $cur == *=* ]]; then
        # By default Readline starts a new word after the '='.
        local machine=${cur%%=*} prefix=''
        [[ $COMP_WORDBREAKS == *=* ]] || prefix=$machine=
        [[ $machine =~ ^[a-z][a-z0-9]*$ ]] || return
        _keymodectl_names "$machine" "${cur#*=}" "$prefix"
      else
        compopt -o nospace
        _keymodectl_names machines "$cur" '' =
      fi
      ;;
    trigger) _keymodectl_names events "$cur" ;;
    recipe) _keymodectl_names recipes "$cur" ;;
    replay) _filedir ;;
    record | keys) COMPREPLY=($(compgen -W "$(compgen -G '/dev/input/event*')" -- "$cur")) ;;
  esac
} && complete -F _keymodectl keymodectl
