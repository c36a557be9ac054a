import Session
import KeyboardModes
import KeymodeClient
import TestSupport
import Testing
import Wire

@Suite("Watching: live view")
struct WatchViewTests {
  private let second: Int64 = 1_000_000

  private func moment(_ seconds: Int64) -> Moment {
    Moment(sinceBoot: seconds * second, since1970: (1_700_000_000 + seconds) * second)
  }

  /// A view whose states were entered at 10 s, with a change at 20 s.
  private func view() -> WatchView {
    var view = WatchView(directory: "/run/keymoded")
    let states = states("off", "editingText", since: 10 * second, at: 15 * second)
    view.handle(.states(states), at: moment(15))
    view.handle(.change(change("off", "on", "shiftPressed", at: 20 * second)), at: moment(20))
    return view
  }

  /// The lines at 25 s, with `HH:MM:SS.mmm` for times of day, without spaces at their ends.
  private func lines(
    _ view: WatchView, columns: Int = 80, rows: Int = 24, isColored: Bool = false
  ) -> [String] {
    view.lines(columns: columns, rows: rows, isColored: isColored, at: moment(25)).map {
      $0.description.replacing(/\d\d:\d\d:\d\d\.\d\d\d/, with: "HH:MM:SS.mmm").replacing(
        /\ +$/, with: "")
    }
  }

  @Test("a wide view has times, both machines and events")
  func wide() {
    #expect(
      lines(view()) == [
        "connected to keymoded in /run/keymoded", "",
        "              shift                      keyboard",
        "              on                         editingText",
        "              for 5 s                    for 15 s", "",
        "HH:MM:SS.mmm  on ← shiftPressed",
      ])
  }

  @Test("a narrower view has no events, and a narrow one no times")
  func narrow() {
    #expect(lines(view(), columns: 77).last == "HH:MM:SS.mmm  on")
    #expect(lines(view(), columns: 42)[3] == "              on        editingText")
    #expect(lines(view(), columns: 41).last == "on")
    #expect(lines(view(), columns: 41)[3] == "on        editingText")
    #expect(lines(view(), columns: 12)[3] == "on        e…")
    #expect(lines(view(), columns: 1).allSatisfy { $0.count <= 1 })
  }

  @Test("a low view never has more lines than rows", arguments: 1...8)
  func low(_ rows: Int) { #expect(lines(view(), rows: rows).count == min(rows, 7)) }

  @Test(
    "the keys are in the last row, if there is room for more than the states", arguments: 1...20)
  func keys(_ rows: Int) {
    let lines = view().lines(
      columns: 80, rows: rows, isColored: false, keys: "q quits", at: moment(25))
    #expect(lines.count <= rows)
    #expect((lines.last == "q quits" && lines.count == rows) == (rows > 5))
    #expect(lines.contains { $0.description.contains("editingText") } == (rows >= 4))
  }

  @Test("of one machine, the view has one column, and none of the other's changes")
  func oneMachine() {
    var view = WatchView(directory: "d", machine: .keyboard)
    view.handle(.states(states("off", "idle", since: 10 * second, at: 15 * second)), at: moment(15))
    view.handle(.change(change("off", "on", at: 16 * second)), at: moment(16))
    view.handle(
      .change(change("idle", "busy", "work", at: 20 * second, of: .keyboard)), at: moment(20))
    #expect(
      lines(view) == [
        "connected to keymoded in d", "", "              keyboard", "              busy",
        "              for 5 s", "", "HH:MM:SS.mmm  busy ← work",
      ])
  }

  @Test(
    "a known lock and a machine of one's own have a column as wide as their states",
    arguments: [80, 41])
  func columns(_ columns: Int) {
    var view = WatchView(directory: "d")
    let talk = MachineName(rawValue: "talk")
    let states = States(
      sequence: 0, shift: "off", shiftSince: nil, keyboard: "idle", keyboardSince: nil,
      locks: LockStates(caps: .off),
      own: [States.Entry(talk, "silent", since: Time(microseconds: 0))])
    view.handle(
      .states(StateMessage(instance: "i", time: Time(microseconds: 15 * second), states: states)),
      at: moment(15))
    view.handle(.change(change("off", "on", "ledOn", at: 20 * second, of: .caps)), at: moment(20))
    view.handle(
      .change(change("silent", "talkingWithYou", "press", at: 22 * second, of: talk)),
      at: moment(22))
    let lines = lines(view, columns: columns)
    if columns == 80 {
      #expect(
        lines == [
          "connected to keymoded in d", "",
          "              shift     keyboard  talk            caps",
          "              off       idle      talkingWithYou  on",
          "                                  for 3 s         for 5 s", "",
          "HH:MM:SS.mmm                      talkingWithYou ← press",
          "HH:MM:SS.mmm                                      on ← ledOn",
        ])
    } else {
      #expect(lines[2] == "shift     keyboard  talk            caps")
    }
    view.handle(.change(change("on", "unknown", "ledGone", of: .caps)), at: moment(25))
    #expect(!self.lines(view)[2].contains("caps"), "an unknown lock has no column")
  }

  @Test("before the first states, the view says what to do")
  func advice() {
    var view = WatchView(directory: "d", advice: "start one")
    view.handle(.disconnected(.noDaemon(path: "d/state.sock")), at: moment(20))
    #expect(lines(view) == ["waiting for keymoded in d", "", "start one"])
    #expect(lines(view, columns: 7)[2...] == ["start", "one"], "broken at a space")
    view.handle(.states(states("off", "idle")), at: moment(21))
    #expect(lines(view)[3] == "              off                        idle")
    #expect(lines(view).count == 6, "nothing has ended")
  }

  @Test(
    "times of day have milliseconds, rounded down",
    arguments: [(0, "000"), (999, "000"), (42_999, "042"), (999_999, "999")] as [(Int64, String)])
  func milliseconds(_ microseconds: Int64, _ shown: String) {
    var view = WatchView(directory: "d")
    let now = Moment(sinceBoot: 20 * second, since1970: 1_700_000_000 * second)
    view.handle(.states(states("off", "idle", at: 20 * second)), at: now)
    view.handle(.change(change("off", "on", at: 15 * second + microseconds)), at: now)
    let line = view.lines(columns: 80, rows: 24, isColored: false, at: now).last?.description
    #expect(line?.contains(":15.\(shown)  on ← x") == true)
  }

  @Test("with colours, states stand out by control sequences")
  func colors() {
    let line = view().lines(columns: 80, rows: 24, isColored: true, at: moment(25))[3]
    #expect(line.description.contains("\u{1b}[1;33mon\u{1b}[m"))
    #expect(line.description.contains("\u{1b}[1;32meditingText\u{1b}[m"))
  }

  @Test(
    "a duration is in its largest unit, and changes when that unit does",
    arguments: [
      (20, "for 0 s", 1), (79, "for 59 s", 1), (80, "for 1 min", 60), (85, "for 1 min", 55),
      (20 + 3599, "for 59 min", 1), (20 + 3600, "for 1 h", 3600), (20 + 86_400, "for 1 d", 86_400),
    ] as [(Int64, String, Int64)])
  func duration(_ seconds: Int64, _ text: String, _ left: Int64) {
    var view = WatchView(directory: "")
    let states = states("off", "x", since: 20 * second, at: 20 * second)
    view.handle(.states(states), at: moment(20))
    let now = moment(seconds)
    let lines = view.lines(columns: 80, rows: 24, isColored: false, at: now)
    #expect(lines[4].description.contains(text))
    #expect(view.timeToRedraw(at: now) == left * second)
  }

  @Test("a view that lost the daemon keeps the states, and says when it is back")
  func disconnected() {
    var view = view()
    view.handle(.disconnected(.connectionLost), at: moment(22))
    #expect(view.timeToRedraw(at: moment(25)) == nil)
    #expect(
      lines(view) == [
        "waiting for keymoded in /run/keymoded", "",
        "              shift                      keyboard",
        "              on                         editingText",
        "              unknown                    unknown", "",
        "HH:MM:SS.mmm  keymoded has ended",
        "HH:MM:SS.mmm  on ← shiftPressed",
      ])
    view.handle(.missed(nil), at: moment(23))
    view.handle(.states(states("off", "x", at: 0)), at: moment(23))
    #expect(
      lines(view)[6...7] == ["HH:MM:SS.mmm  connected again", "HH:MM:SS.mmm  missed some changes"])
  }

  @Test("nothing is shown as later than now, although a recording may be played fast")
  func fastRecording() {
    var view = view()
    view.handle(.change(change("on", "off", at: 9000 * second)), at: moment(25))
    #expect(lines(view)[4] == "              for 0 s                    for 15 s")
  }

  @Test("times that keymoded does not send are shown, too", arguments: [.min, .max] as [Int64])
  func extremes(_ time: Int64) {
    var view = WatchView(directory: "d")
    view.handle(.states(states("off", "x", since: time, at: -1 - time)), at: moment(20))
    view.handle(.change(change("off", "on", at: time)), at: moment(20))
    #expect(lines(view).contains { $0.contains("on") })
    _ = view.timeToRedraw(at: moment(25))
  }

  @Test("the history is bounded")
  func bounded() {
    var view = view()
    for _ in 0..<2000 { view.handle(.missed(1), at: moment(21)) }
    #expect(lines(view, rows: 10_000).count == 506)
  }
}
