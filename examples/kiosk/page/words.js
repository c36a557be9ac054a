// What the page says, in English and German. States of your own have no words here.

export const words = {
  en: {
    title: 'Chat',
    field: 'Message',
    panel: 'Emoji and pictures',
    more: 'Emoji and pictures',
    emoji: 'Emoji, for your message',
    images: 'Pictures, sent at once',
    send: 'Send',
    level: 'Loudness',
    sendKey: 'Enter',
    done: 'Done',
    stillThere: 'Still there?',
    deletedIn: 'Everything here will be deleted in',
    goOn: 'Continue',
    speak: 'Speak',
    discard: 'Discard',
    discardKey: 'Esc',
    discarded: 'Voice message discarded',
    draft: 'Not sent yet',
    undo: 'Undo',
    undoKey: 'Ctrl+Z',
    slide: 'Slide to cancel',
    tooShort: 'Hold longer, or tap and speak',
    play: 'Play',
    pause: 'Pause',
    position: 'Position',
    delivery: { waiting: 'Waiting', sent: 'Sent', failed: 'Not sent' },
    messages: 'Messages',
    voiceMessage: 'Voice message',
    voice: {
      idle: 'Not recording. Press again',
      opening: 'One moment…',
      recording: 'Speak now',
      failed: 'The microphone cannot be used',
    },
    shift: { off: 'Shift is off', on: 'Shift for one letter', capsLock: 'Capitals' },
    keyboard: {
      prepareToEditText: 'Ready',
      editingText: 'Type a message',
      showingPanel: 'Choose an emoji or a picture',
    },
    connecting: 'One moment…',
    outage: { fingers: 'Please use the touch screen', keys: 'Please use the keyboard', all: 'Out of order' },
    welcome: ['Hello! How can we help?', 'You can write, speak, or send a picture. Press Shift twice for capitals.'],
    pictures: { sun: 'Sun', mountain: 'Mountain', cup: 'Cup', boat: 'Boat' },
  },
  de: {
    title: 'Chat',
    field: 'Nachricht',
    panel: 'Emojis und Bilder',
    more: 'Emojis und Bilder',
    emoji: 'Emojis, für Ihre Nachricht',
    images: 'Bilder, sofort gesendet',
    send: 'Senden',
    level: 'Lautstärke',
    sendKey: 'Enter',
    done: 'Fertig',
    stillThere: 'Sind Sie noch da?',
    deletedIn: 'Hier wird alles gelöscht in',
    goOn: 'Weiter',
    speak: 'Sprechen',
    discard: 'Verwerfen',
    discardKey: 'Esc',
    discarded: 'Sprachnachricht verworfen',
    draft: 'Noch nicht gesendet',
    undo: 'Rückgängig',
    undoKey: 'Strg+Z',
    slide: 'Wischen verwirft',
    tooShort: 'Länger halten, oder tippen und sprechen',
    play: 'Abspielen',
    pause: 'Anhalten',
    position: 'Position',
    delivery: { waiting: 'Wartet', sent: 'Gesendet', failed: 'Nicht gesendet' },
    messages: 'Nachrichten',
    voiceMessage: 'Sprachnachricht',
    voice: {
      idle: 'Keine Aufnahme. Bitte noch einmal',
      opening: 'Einen Moment …',
      recording: 'Bitte sprechen',
      failed: 'Das Mikrofon ist nicht verfügbar',
    },
    shift: { off: 'Umschalttaste aus', on: 'Ein Großbuchstabe', capsLock: 'Großbuchstaben' },
    keyboard: {
      prepareToEditText: 'Bereit',
      editingText: 'Bitte schreiben',
      showingPanel: 'Bitte ein Emoji oder Bild wählen',
    },
    connecting: 'Einen Moment …',
    outage: { fingers: 'Bitte den Touchscreen benutzen', keys: 'Bitte die Tastatur benutzen', all: 'Außer Betrieb' },
    welcome: [
      'Guten Tag! Wie können wir helfen?',
      'Sie können schreiben, sprechen oder ein Bild senden. Zweimal die Umschalttaste gibt Großbuchstaben.',
    ],
    pictures: { sun: 'Sonne', mountain: 'Berg', cup: 'Tasse', boat: 'Boot' },
  },
};

/** The first language of the browser that this page speaks, as the browser names it, for dates and times. */
export const locale = navigator.languages.find((tag) => tag.split('-')[0] in words) ?? 'en';
const language = locale.split('-')[0];

/** The words of the first language of the browser that this page speaks. */
export const text = words[language];

/** Puts the words into a document's elements that name them. */
export function translate(document) {
  document.documentElement.lang = language;
  document.title = text.title;
  for (const element of document.querySelectorAll('[data-word]')) {
    element.textContent = text[element.dataset.word];
  }
  for (const element of document.querySelectorAll('[data-word-label]')) {
    element.setAttribute('aria-label', text[element.dataset.wordLabel]);
  }
  for (const element of document.querySelectorAll('[data-word-placeholder]')) {
    element.placeholder = text[element.dataset.wordPlaceholder];
  }
}
