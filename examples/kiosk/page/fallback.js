// What a touch does while keymoded cannot be asked: the keyboard's default table, for fingers alone.

const TABLE = {
  prepareToEditText: { clickSwitchButton: 'prepareToRecord', clickMoreButton: 'showingPanel', tapTextField: 'editingText' },
  prepareToRecord: { clickSwitchButton: 'editingText', clickMoreButton: 'showingPanel' },
  editingText: { clickSwitchButton: 'prepareToRecord', clickMoreButton: 'showingPanel', tapBlankArea: 'prepareToEditText' },
  showingPanel: {
    clickSwitchButton: 'prepareToRecord', clickMoreButton: 'prepareToEditText', tapTextField: 'editingText',
    tapBlankArea: 'prepareToEditText',
  },
};

/** The state in which fingers begin, when keymoded's was this one. No recording goes on. */
export function begin(state) {
  if (state === 'prepareToRecord') return 'editingText';
  return Object.hasOwn(TABLE, state) ? state : 'prepareToEditText';
}

/** The state after an event. */
export function next(state, event) {
  return TABLE[state][event] ?? state;
}
