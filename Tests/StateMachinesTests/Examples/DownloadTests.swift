import Foundation
import ObservedMachines
import StateMachineTesting
import StateMachines
import Testing

/// A download that is tried three times.
struct Download: DrawableRules {
  enum State: Equatable, Codable {
    case idle, downloading(attempt: Int, percent: Int = 0), failed, done
  }
  enum Event: CaseIterable { case started, progressed, failed, finished }

  var initial: State { .idle }

  func next(_ state: State, on event: Event) -> State? {
    switch (state, event) {
    case (.idle, .started): .downloading(attempt: 1)
    case (.downloading(let attempt, let percent), .progressed):
      percent == 100 ? nil : .downloading(attempt: attempt, percent: percent + 1)
    case (.downloading(let attempt, _), .failed):
      attempt == 3 ? .failed : .downloading(attempt: attempt + 1)
    case (.downloading, .finished): .done

    case (.downloading, .started): nil
    case (.idle, .progressed), (.idle, .failed), (.idle, .finished): nil
    case (.failed, .started), (.failed, .progressed), (.failed, .failed), (.failed, .finished): nil
    case (.done, .started), (.done, .progressed), (.done, .failed), (.done, .finished): nil
    }
  }

  func reenters(_ state: State, on event: Event) -> Bool { event == .failed }

  var states: [State] {
    [.idle, .downloading(attempt: 1), .downloading(attempt: 3), .failed, .done]
  }
  var finalStates: [State] { [.failed, .done] }
  func condition(of state: State) -> String? {
    state.attempt.map { $0 == 3 ? "the third try" : "tries left" }
  }
}

extension Download.State {
  var attempt: Int? { if case .downloading(let attempt, _) = self { attempt } else { nil } }
}

@Suite("Example: download with retries")
struct DownloadTests {
  @Test("a state that was stored is restored, and the machine goes on from there")
  func restoring() throws {
    var machine = StateMachine(Download())
    machine.send(.started)
    machine.send(.failed)

    let stored = try JSONEncoder().encode(machine.state)
    let state = try JSONDecoder().decode(Download.State.self, from: stored)
    let restored = ObservedMachine(Download(), in: state)

    var entered: [Int] = []
    restored.entering(\.attempt) { attempt, _ in entered.append(attempt) }
    restored.start()
    restored.send(.failed)
    #expect(restored.state == .downloading(attempt: 3) && entered == [2, 3])
  }

  @Test("each try begins its work anew, progress does not, and the third failure ends it")
  func tries() throws {
    let machine = ObservedMachine(Download())
    var begun: [Int] = []
    machine.entering(\.attempt) { attempt, _ in begun.append(attempt) }
    try machine.after(.downloading(attempt: 0), on: .progressed) { _ in }
    #expect(machine.hookFaults == [])
    for event in [.started, .progressed, .failed, .progressed, .failed] as [Download.Event] {
      machine.send(event)
    }
    #expect(machine.state == .downloading(attempt: 3) && begun == [1, 2, 3])
    machine.send(.failed)
    #expect(machine.state == .failed && machine.isFinal && begun.count == 3)
    try expectSound(Download(), diagram: "download")
  }
}
