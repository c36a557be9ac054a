/// A machine as the article or the textbook describes it that it comes from. These tables are not made
/// from the rules: they are what the rules are compared with.
struct SourceTable {
  let name: String
  let initial: String
  let states: [String]
  /// The next state for each state; `/` where the event changes nothing.
  let rows: [(event: String, next: [String])]

  /// - Parameter text: `name: initial state`, a line with the states, and a line for each event.
  init(_ text: some StringProtocol) {
    let lines = text.split(separator: "\n").map { line in
      line.split(separator: "|", omittingEmptySubsequences: false).map { cell in
        String(cell.trimmingPrefix { $0 == " " }.reversed().trimmingPrefix { $0 == " " }.reversed())
      }
    }
    let title = lines[0][0].split(separator: ":").map(String.init)
    (name, initial) = (title[0], String(title[1].dropFirst()))
    states = Array(lines[1].dropFirst())
    rows = lines.dropFirst(2).map { ($0[0], Array($0.dropFirst())) }
  }

  /// All of them.
  static let all = text.components(separatedBy: "\n\n").map { SourceTable($0) }

  private static let text = """
    turnstile: locked
         | locked   | unlocked
    coin | unlocked | unlocked
    push | locked   | locked

    fridge: cooling
               | idle    | cooling
    becameWarm | cooling | /
    becameCold | /       | idle

    fridge with fast cooling and a door: cooling
                  | idle        | cooling     | fastCooling | doorOpened
    becameWarm    | cooling     | /           | /           | /
    becameCold    | /           | idle        | idle        | /
    buttonPressed | fastCooling | fastCooling | cooling     | /
    doorOpened    | doorOpened  | doorOpened  | doorOpened  | /
    doorClosed    | /           | /           | /           | idle

    fridge with a door: cooling
               | idle       | cooling    | doorOpened
    becameWarm | cooling    | /          | /
    becameCold | /          | idle       | /
    doorOpened | doorOpened | doorOpened | /
    doorClosed | /          | /          | idle

    program: idle
             | idle    | loading | waiting    | processing | error | result
    launched | loading | /       | /          | /          | /     | /
    loaded   | /       | waiting | /          | /          | /     | /
    input    | /       | /       | processing | /          | /     | /
    failed   | /       | /       | /          | error      | /     | /
    cancel   | /       | /       | /          | waiting    | /     | /
    success  | /       | /       | /          | result     | /     | /
    close    | /       | /       | /          | /          | /     | waiting
    restart  | /       | /       | /          | /          | idle  | /

    role of objects: run
                    | walk | run
    clickWalkButton | /    | walk
    clickRunButton  | run  | /

    role of rows: walk
                    | walk | run
    clickWalkButton | /    | walk
    clickRunButton  | run  | /

    edit form: editing
                        | editing    | confirming | saving | saved
    save                | confirming | /          | /      | /
    confirm(true)       | /          | saving     | /      | /
    confirm(false)      | /          | editing    | /      | /
    finishSave(success) | /          | /          | saved  | /
    finishSave(fail)    | /          | /          | saved  | /
    shownResult         | /          | /          | /      | editing

    check-in list: idle
                   | idle    | loading | error   | empty   | list
    loadingStarted | loading | /       | loading | loading | loading
    finished(none) | /       | empty   | /       | /       | /
    finished(some) | /       | list    | /       | /       | /
    failed(noAuth) | /       | /       | /       | /       | /
    failed(other)  | /       | /       | /       | /       | /

    check-in list of a user: idle
                   | idle    | loading   | error     | empty     | list      | loggedOut
    loadingStarted | loading | /         | loading   | loading   | loading   | loading
    finished(none) | /       | empty     | /         | /         | /         | /
    finished(some) | /       | list      | /         | /         | /         | /
    failed(noAuth) | /       | loggedOut | /         | /         | /         | /
    failed(other)  | /       | /         | /         | /         | /         | /
    logout         | /       | /         | loggedOut | loggedOut | loggedOut | /

    news list: empty
                    | empty   | loading  | one article | two articles | error
    refreshed       | loading | /        | /           | /            | /
    received        | /       | articles | /           | /            | /
    failed          | /       | error    | /           | /            | /
    deletedRow(0)   | /       | /        | empty       | articles     | /
    deletedRow(1)   | /       | /        | /           | articles     | /
    dismissed       | /       | /        | /           | /            | empty
    retried         | /       | /        | /           | /            | loading

    states that follow in the news list: empty
             | empty | loading | articles | error
    empty    | no    | no      | yes      | yes
    loading  | yes   | no      | no       | yes
    articles | no    | yes     | no       | no
    error    | no    | yes     | no       | no

    list of notes: browsing
               | browsing | showing
    selected   | showing  | /
    deselected | /        | browsing
    deleted    | browsing | /
    changed    | browsing | showing

    editor of a note: editing
            | editing | closed
    typed   | editing | /
    changed | editing | /
    closed  | closed  | /

    keyboard of a chat: any
                      | prepareToEditText | prepareToRecord | editingText       | showingPanel
    clickSwitchButton | prepareToRecord   | editingText     | prepareToRecord   | prepareToRecord
    clickMoreButton   | showingPanel      | showingPanel    | showingPanel      | prepareToEditText
    tapTextField      | editingText       | /               | /                 | editingText
    tapBlankArea      | /                 | /               | prepareToEditText | prepareToEditText

    Shift: off
                          | off | on       | capsLock
    pressed 0 s later     | on  | capsLock | off
    pressed 0.499 s later | on  | capsLock | off
    pressed 0.5 s later   | on  | off      | off
    pressed 0.4 s earlier | on  | capsLock | off
    pressed 0.5 s earlier | on  | capsLock | off
    characterTyped        | /   | off      | /
    """
}
