import ObservedMachines
import StateMachines
import Testing

/// The list of check-ins as a Mealy machine: the download is an output.
struct DownloadingCheckinList: MealyRules {
  enum Output { case download }

  let list = CheckinList()
  var initial: CheckinList.State { list.initial }

  func next(_ state: CheckinList.State, on event: CheckinList.Event) -> CheckinList.State? {
    list.next(state, on: event)
  }

  func output(_ state: CheckinList.State, on event: CheckinList.Event) -> Output? {
    if case .loadingStarted = event { .download } else { nil }
  }
}

@Suite("Example: check-in list with a download as an output")
struct MealyTests {
  @Test("a download is asked for once, without a network, and not while one is under way")
  func download() {
    let machine = ObservedMachine(DownloadingCheckinList())
    var outputs: [DownloadingCheckinList.Output] = []
    machine.performing { output, step in
      #expect("\(step.to)" == "loading")
      outputs.append(output)
    }
    machine.send(.finished([]))
    #expect(outputs == [])
    machine.send(.loadingStarted)
    machine.send(.loadingStarted)
    #expect(outputs == [.download])
    machine.send(.failed(ProviderError.offline))
    machine.send(.loadingStarted)
    #expect(outputs == [.download, .download])
  }
}
