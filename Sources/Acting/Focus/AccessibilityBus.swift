import SystemCalls
import Systemd

/// A connection to the bus on which programs tell assistive technologies of themselves.
///
/// It receives what programs tell of the focus, and asks of the object that has it whether it is a
/// text field. A program that does not answer delays nothing but the answer.
final class AccessibilityBus {
  private static let registry = "org.a11y.atspi.Registry"

  /// How long a program may take to answer.
  private static let patience = Duration.seconds(1)
  /// GTK 4 tells of the focus of a new window before its objects can be asked, so a question that
  /// fails is asked again, this many times, after 50 ms, 100 ms and so on.
  private static let attempts = 7
  private static let firstDelay = Duration.milliseconds(50)
  /// How long to wait before asking for a registry that has ended.
  private static let registryDelay = Duration.seconds(1)

  private let bus: Bus
  private let told: (FocusedObject.Event) -> Void
  private var slots: [BusSlot] = []
  private var retry: EventSource?
  private var registration: EventSource?
  private var isRegistering = false

  /// The object of which is asked, and how many attempts are left.
  private var asked: AccessibleObject?
  private var attemptsLeft = 0
  /// The objects whose end is watched: the one that has the focus, and the active window.
  private var watched: Set<AccessibleObject> = []
  private var watches: [BusSlot] = []

  /// Connects to the bus at this address.
  ///
  /// - Parameters:
  ///   - told: called, from the loop, with what programs tell.
  ///   - lost: called, from the loop, once the connection is lost. It may release this object.
  init(
    _ address: String, on loop: EventLoop, told: @escaping (FocusedObject.Event) -> Void,
    lost: @escaping () -> Void
  ) throws(SystemError) {
    self.told = told
    bus = try Bus(.at(address), on: loop)
    retry = try loop.addTimer { [unowned self] in askNow() }
    registration = try loop.addTimer { [unowned self] in register() }
    slots.append(try bus.whenLost(lost))
    for kind in FocusSignal.allCases {
      slots.append(
        try bus.signals(kind.match) { signal in if let event = kind.event(signal) { told(event) } })
    }
    slots.append(
      try bus.owner(of: Self.registry) { [unowned self] in registryChanged(isThere: $0) })
    register()
  }

  // MARK: - The registry

  /// Registers for the signals: programs send only those that a listener has registered for. The bus
  /// starts the registry if it does not run.
  private func register() {
    isRegistering = true
    for (index, event) in FocusSignal.registered.enumerated() {
      let call = BusCall(
        to: Self.registry, path: "/org/a11y/atspi/registry", interface: Self.registry,
        member: "RegisterEvent", .string(event))
      let isLast = index == FocusSignal.registered.count - 1
      bus.call(call) { [weak self] _ in if isLast { self?.isRegistering = false } }
    }
  }

  /// A new registry knows nothing of what was registered with the former one.
  private func registryChanged(isThere: Bool) {
    // One that is being started for this object's own call will get that call.
    if isRegistering { return }
    if isThere {
      registration?.disable()
      register()
    } else {
      registration?.set(after: Self.registryDelay)
    }
  }

  // MARK: - The object that has the focus

  /// Asks whether the object is a text field, and watches for its end and that of its window.
  func follow(_ focus: FocusedObject) {
    watch(Set([focus.state.object, focus.activeWindow].compactMap(\.self)))
    if case .asked(let object) = focus.state {
      guard asked != object else { return }
      (asked, attemptsLeft) = (object, Self.attempts)
      retry?.disable()
      askNow()
    } else {
      asked = nil
      retry?.disable()
    }
  }

  private func askNow() {
    guard let object = asked else { return }
    attemptsLeft -= 1
    ask(.states, of: object, reading: AccessibleStates.init) { [unowned self] states in
      if states.isEditable { return told(.answered(object, isTextField: true)) }
      ask(.role, of: object, reading: AccessibleRole.init) { [unowned self] role in
        told(.answered(object, isTextField: role.isTerminal))
      }
    }
  }

  private func ask<Answer>(
    _ question: AccessibleQuestion, of object: AccessibleObject,
    reading read: @escaping ([BusValue]) -> Answer?, answered: @escaping (Answer) -> Void
  ) {
    bus.call(question.call(object), timeout: Self.patience) { [weak self] result in
      // Another object may have the focus by now.
      guard let self, asked == object else { return }
      switch result.map(read) {
      case .success(let answer?): answered(answer)
      // The program ended before its end was watched.
      case .failure(let error) where error.isServiceUnknown: told(.programLeft(object.program))
      case .success(nil), .failure: askLater()
      }
    }
  }

  private func askLater() {
    guard attemptsLeft > 0 else { return }
    retry?.set(after: Self.firstDelay * (1 << (Self.attempts - 1 - attemptsLeft)))
  }

  private func watch(_ objects: Set<AccessibleObject>) {
    guard objects != watched else { return }
    watched = objects
    watches = []
    do throws(SystemError) {
      for program in Set(objects.map(\.program)) {
        watches.append(
          try bus.owner(of: program) { [unowned self] isThere in
            if !isThere { told(.programLeft(program)) }
          })
      }
      for object in objects {
        watches.append(
          try bus.signals(FocusSignal.removal(of: object)) { [unowned self] _ in
            told(.removed(object))
          })
      }
    } catch {
      // Without memory for it. The next focus of any object replaces this one all the same.
    }
  }
}
