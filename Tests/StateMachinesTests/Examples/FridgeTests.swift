import StateMachineTesting
import StateMachines
import Testing

/// A fridge that begins to cool when it is switched on.
struct Fridge: DrawableRules {
  enum State: CaseIterable { case idle, cooling }
  enum Event: CaseIterable { case becameWarm, becameCold }

  var initial: State { .cooling }

  func next(_ state: State, on event: Event) -> State? {
    switch (state, event) {
    case (.idle, .becameWarm): .cooling
    case (.cooling, .becameCold): .idle
    case (.idle, .becameCold), (.cooling, .becameWarm): nil
    }
  }
}

/// The same fridge with a door that stops it.
struct FridgeWithDoor: DrawableRules {
  enum State: CaseIterable { case idle, cooling, doorOpened }
  enum Event: CaseIterable { case becameWarm, becameCold, doorOpened, doorClosed }

  var initial: State { .cooling }

  func next(_ state: State, on event: Event) -> State? {
    switch (event, state) {
    case (.becameWarm, .idle): .cooling
    case (.becameCold, .cooling): .idle
    case (.doorOpened, .idle), (.doorOpened, .cooling): .doorOpened
    case (.doorClosed, .doorOpened): .idle

    case (.becameWarm, .cooling), (.becameWarm, .doorOpened): nil
    case (.becameCold, .idle), (.becameCold, .doorOpened): nil
    case (.doorOpened, .doorOpened), (.doorClosed, .idle), (.doorClosed, .cooling): nil
    }
  }
}

/// The same fridge with a button for cooling fast, and a door that stops it.
struct BetterFridge: DrawableRules {
  enum State: CaseIterable { case idle, cooling, fastCooling, doorOpened }
  enum Event: CaseIterable { case becameWarm, becameCold, buttonPressed, doorOpened, doorClosed }

  var initial: State { .cooling }

  func next(_ state: State, on event: Event) -> State? {
    switch (event, state) {
    case (.becameWarm, .idle): .cooling
    case (.becameWarm, .cooling), (.becameWarm, .fastCooling), (.becameWarm, .doorOpened): nil

    case (.becameCold, .cooling), (.becameCold, .fastCooling): .idle
    case (.becameCold, .idle), (.becameCold, .doorOpened): nil

    case (.buttonPressed, .idle), (.buttonPressed, .cooling): .fastCooling
    case (.buttonPressed, .fastCooling): .cooling
    case (.buttonPressed, .doorOpened): nil

    case (.doorOpened, .idle), (.doorOpened, .cooling), (.doorOpened, .fastCooling): .doorOpened
    case (.doorOpened, .doorOpened): nil

    case (.doorClosed, .doorOpened): .idle
    case (.doorClosed, .idle), (.doorClosed, .cooling), (.doorClosed, .fastCooling): nil
    }
  }
}

@Suite("Example: fridge")
struct FridgeTests {
  @Test("the fridge follows its table")
  func fridge() throws {
    #expect(
      table(of: Fridge()) == """
        idle + becameWarm → cooling
        idle + becameCold → /
        cooling + becameWarm → /
        cooling + becameCold → idle
        """)
    try expectSound(Fridge(), diagram: "fridge")
  }

  @Test("the fridge with fast cooling and a door follows its table")
  func betterFridge() throws {
    #expect(
      table(of: BetterFridge()) == """
        idle + becameWarm → cooling
        idle + becameCold → /
        idle + buttonPressed → fastCooling
        idle + doorOpened → doorOpened
        idle + doorClosed → /
        cooling + becameWarm → /
        cooling + becameCold → idle
        cooling + buttonPressed → fastCooling
        cooling + doorOpened → doorOpened
        cooling + doorClosed → /
        fastCooling + becameWarm → /
        fastCooling + becameCold → idle
        fastCooling + buttonPressed → cooling
        fastCooling + doorOpened → doorOpened
        fastCooling + doorClosed → /
        doorOpened + becameWarm → /
        doorOpened + becameCold → /
        doorOpened + buttonPressed → /
        doorOpened + doorOpened → /
        doorOpened + doorClosed → idle
        """)
    try expectSound(BetterFridge(), diagram: "better-fridge")
  }

  @Test("the exercise, a fridge with a door, has three states and four events: twelve pairs")
  func twelve() throws {
    #expect(FridgeWithDoor().states.count * FridgeWithDoor().samples.count == 12)
    #expect(FridgeWithDoor().soundnessFaults == [])
  }
}
