import ObservedMachines
import StateMachines
import Testing

/// A form that asks before it saves. The last state has the result as its payload.
struct EditForm: DrawableRules {
  enum Saving: Hashable { case done, failed }
  enum State: Hashable { case editing, confirming, saving, saved(Saving) }
  enum Event: Hashable { case submitted, confirm(Bool), saved(Saving), edited }

  var initial: State { .editing }

  func next(_ state: State, on event: Event) -> State? {
    switch (event, state) {
    case (.submitted, .editing): .confirming
    case (.submitted, .confirming), (.submitted, .saving), (.submitted, .saved): nil

    case (.confirm(let yes), .confirming): yes ? .saving : .editing
    case (.confirm, .editing), (.confirm, .saving), (.confirm, .saved): nil

    case (.saved(let result), .saving): .saved(result)
    case (.saved, .editing), (.saved, .confirming), (.saved, .saved): nil

    case (.edited, .saved): .editing
    case (.edited, .editing), (.edited, .confirming), (.edited, .saving): nil
    }
  }

  var states: [State] { [.editing, .confirming, .saving, .saved(.done)] }

  var samples: [Sample<Event>] {
    [
      Sample(.submitted), Sample(.confirm(true), where: "yes"),
      Sample(.confirm(false), where: "no"),
      Sample(.saved(.done), where: "done"), Sample(.saved(.failed), where: "failed"),
      Sample(.edited),
    ]
  }
}

@Suite("Example: edit form")
struct EditFormTests {
  @Test("the form follows its table")
  func rules() throws {
    #expect(
      steps(of: EditForm(), pairs: 24) == [
        "editing + submitted → confirming", "confirming + confirm(true) → saving",
        "confirming + confirm(false) → editing", "saving + saved(done) → saved(done)",
        "saving + saved(failed) → saved(failed)", "saved(done) + edited → editing",
      ])
    try expectSound(EditForm(), diagram: "edit-form")
  }

  @Test("the form's diagram has a condition only where it decides")
  func conditions() {
    let labels = Diagram(of: EditForm()).arrows.map(\.label)
    #expect(
      labels == ["submitted", "confirm [yes]", "confirm [no]", "saved", "edited"],
      "saved leads to the state saved, whatever the result")
  }

  @Test("the form saves only what was confirmed, and its state has the result")
  func run() {
    let form = ObservedMachine(EditForm())
    var entered: [EditForm.State] = []
    form.observe(didEnter: { [unowned form] state in
      entered.append(state)
      // The work of a state starts when the state is entered; its end is an event.
      if state == .saving { form.send(.saved(.failed)) }
    })
    for event in [.submitted, .confirm(false), .submitted, .confirm(true), .edited]
      as [EditForm.Event]
    {
      form.send(event)
    }
    #expect(
      entered == [.confirming, .editing, .confirming, .saving, .saved(.failed), .editing])
  }
}
