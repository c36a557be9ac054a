import ObservedMachines
import StateMachines
import Testing

enum SavingError: Error { case full }

/// A form that asks before it saves.
struct EditForm: DrawableRules {
  enum Result { case success, fail(any Error) }
  enum State { case editing, confirming, saving, saved(Result) }
  enum Event { case save, confirm(Bool), finishSave(Result), shownResult }

  var initial: State { .editing }

  func next(_ state: State, on event: Event) -> State? {
    switch (state, event) {
    case (.editing, .save): .confirming
    case (.confirming, .confirm(let yes)): yes ? .saving : .editing
    case (.saving, .finishSave(let result)): .saved(result)
    case (.saved, .shownResult): .editing

    case (.editing, .confirm), (.editing, .finishSave), (.editing, .shownResult): nil
    case (.confirming, .save), (.confirming, .finishSave), (.confirming, .shownResult): nil
    case (.saving, .save), (.saving, .confirm), (.saving, .shownResult): nil
    case (.saved, .save), (.saved, .confirm), (.saved, .finishSave): nil
    }
  }

  var states: [State] { [.editing, .confirming, .saving, .saved(.success)] }

  var samples: [Sample<Event>] {
    [
      Sample(.save), Sample(.confirm(true), where: "yes"), Sample(.confirm(false), where: "no"),
      Sample(.finishSave(.success), where: "success"),
      Sample(.finishSave(.fail(SavingError.full)), where: "failure"), Sample(.shownResult),
    ]
  }
}

extension EditForm.State {
  var result: EditForm.Result? { if case .saved(let result) = self { result } else { nil } }
}

/// Shows the result of saving, and tells the form that it was shown.
final class ResultLabel {
  private(set) var shown: [String] = []

  init(of form: ObservedMachine<EditForm>) {
    form.entering(\.result) { [unowned self, unowned form] result, _ in
      switch result {
      case .success: shown.append("Saved")
      case .fail(let error): shown.append("Not saved: \(error)")
      }
      form.send(.shownResult)
    }
  }
}

@Suite("Example: edit form")
struct EditFormTests {
  @Test("the form follows its table")
  func rules() throws {
    #expect(
      steps(of: EditForm(), pairs: 24) == [
        "editing + save → confirming", "confirming + confirm(true) → saving",
        "confirming + confirm(false) → editing", "saving + finishSave(success) → saved(success)",
        "saving + finishSave(fail(full)) → saved(fail(full))",
        "saved(success) + shownResult → editing",
      ])
    try expectSound(EditForm(), diagram: "edit-form")
  }

  @Test("the one who shows the result says so, and the form is edited again")
  func shown() {
    let form = ObservedMachine(EditForm())
    let label = ResultLabel(of: form)
    var results: [EditForm.Result] = [.success, .fail(SavingError.full)]
    form.entering(.saving) { [unowned form] _ in
      form.send(.finishSave(results.removeFirst()))
    }
    var entered: [String] = []
    form.entering { entered.append(form.rules.name(of: $0.to)) }

    for event in [.save, .confirm(false), .save, .confirm(true)] as [EditForm.Event] {
      form.send(event)
    }
    #expect(
      entered == ["confirming", "editing", "confirming", "saving", "saved", "editing"])
    #expect(label.shown == ["Saved"])
    form.send(.save)
    form.send(.confirm(true))
    #expect(label.shown == ["Saved", "Not saved: full"])
    #expect(form.stateName == "editing")
  }
}
