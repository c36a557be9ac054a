public import StateMachines

/// The keyboard machine of a chat program: what its input area shows.
///
/// |                   | prepareToEditText | prepareToRecord | editingText       | showingPanel      |
/// | ----------------- | ----------------- | --------------- | ----------------- | ----------------- |
/// | clickSwitchButton | prepareToRecord   | editingText     | prepareToRecord   | prepareToRecord   |
/// | clickMoreButton   | showingPanel      | showingPanel    | showingPanel      | prepareToEditText |
/// | tapTextField      | editingText       | ignored         | ignored           | editingText       |
/// | tapBlankArea      | ignored           | ignored         | prepareToEditText | prepareToEditText |
public struct KeyboardRules: DrawableRules, Hashable {
  /// The contents of the input area.
  public enum State: String, CaseIterable, Sendable {
    /// A text field that is not being edited.
    case prepareToEditText
    /// The bar that records speech, instead of the text field.
    case prepareToRecord
    /// A text field with the cursor in it.
    case editingText
    /// The panel of emoji, pictures and files.
    case showingPanel

    /// The name that programs receive.
    public var name: String { rawValue }
  }

  /// An action of the user.
  public enum Event: String, CaseIterable, Sendable {
    /// Pressed the button that switches between text and speech.
    case clickSwitchButton
    /// Pressed the button that shows and hides the panel.
    case clickMoreButton
    /// Touched the text field.
    case tapTextField
    /// Touched somewhere outside of the input area.
    case tapBlankArea

    /// The name that programs receive.
    public var name: String { rawValue }
  }

  /// The shipped table.
  public init() {}

  /// `prepareToEditText`.
  public var initial: State { .prepareToEditText }

  /// The table above.
  public func next(_ state: State, on event: Event) -> State? {
    switch (event, state) {
    case (.clickSwitchButton, .prepareToEditText): .prepareToRecord
    case (.clickSwitchButton, .prepareToRecord): .editingText
    case (.clickSwitchButton, .editingText): .prepareToRecord
    case (.clickSwitchButton, .showingPanel): .prepareToRecord

    case (.clickMoreButton, .prepareToEditText): .showingPanel
    case (.clickMoreButton, .prepareToRecord): .showingPanel
    case (.clickMoreButton, .editingText): .showingPanel
    case (.clickMoreButton, .showingPanel): .prepareToEditText

    case (.tapTextField, .prepareToEditText): .editingText
    case (.tapTextField, .prepareToRecord): nil  // the text field is not on the screen
    case (.tapTextField, .editingText): nil  // it is being edited already
    case (.tapTextField, .showingPanel): .editingText

    case (.tapBlankArea, .prepareToEditText): nil  // nothing is open
    case (.tapBlankArea, .prepareToRecord): nil  // a tap elsewhere does not close the record bar
    case (.tapBlankArea, .editingText): .prepareToEditText
    case (.tapBlankArea, .showingPanel): .prepareToEditText
    }
  }
}
