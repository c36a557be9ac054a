import ObservedMachines
import StateMachines
import Testing

/// A phone.
private struct Phone: DrawableRules {
  enum State: CaseIterable { case idle, ringing, talking }
  enum Event: CaseIterable { case called, answered, hungUp }

  var initial: State { .idle }

  func next(_ state: State, on event: Event) -> State? {
    switch (state, event) {
    case (.idle, .called): .ringing
    case (.ringing, .answered): .talking
    case (.ringing, .hungUp), (.talking, .hungUp): .idle
    case (.idle, .answered), (.idle, .hungUp): nil
    case (.ringing, .called), (.talking, .called), (.talking, .answered): nil
    }
  }
}

/// A music player.
private struct Music: DrawableRules {
  enum State: CaseIterable { case stopped, playing, paused }
  enum Event: CaseIterable { case started, interrupted, resumed, stopped }

  var initial: State { .stopped }

  func next(_ state: State, on event: Event) -> State? {
    switch (state, event) {
    case (.stopped, .started), (.paused, .resumed): .playing
    case (.playing, .interrupted): .paused
    case (.playing, .stopped), (.paused, .stopped): .stopped
    case (.stopped, .interrupted), (.stopped, .resumed), (.stopped, .stopped): nil
    case (.playing, .started), (.playing, .resumed): nil
    case (.paused, .started), (.paused, .interrupted): nil
    }
  }
}

/// Connects the two machines, which do not know each other.
private final class Coordinator {
  let phone = ObservedMachine(Phone())
  let music = ObservedMachine(Music())

  init() {
    phone.observe(didEnter: { [unowned self] state in
      switch state {
      case .ringing: music.send(.interrupted)
      case .idle: music.send(.resumed)
      case .talking: break
      }
    })
  }
}

@Suite("Example: coordinator")
struct CoordinatorTests {
  @Test("the phone and the music follow their tables")
  func rules() throws {
    #expect(
      steps(of: Phone(), pairs: 9) == [
        "idle + called → ringing", "ringing + answered → talking", "ringing + hungUp → idle",
        "talking + hungUp → idle",
      ])
    #expect(
      steps(of: Music(), pairs: 12) == [
        "stopped + started → playing", "playing + interrupted → paused",
        "playing + stopped → stopped", "paused + resumed → playing", "paused + stopped → stopped",
      ])
    try expectSound(Phone(), diagram: "phone")
    try expectSound(Music(), diagram: "music")
  }

  @Test("a change of the phone sends an event to the music")
  func wiring() {
    let both = Coordinator()
    both.music.send(.started)
    both.phone.send(.called)
    #expect(both.music.state == .paused)
    both.phone.send(.answered)
    #expect(both.music.state == .paused)
    both.phone.send(.hungUp)
    #expect(both.music.state == .playing)
    both.music.send(.stopped)
    both.phone.send(.called)
    both.phone.send(.hungUp)
    #expect(both.music.state == .stopped, "what did not play does not begin to")
  }
}
