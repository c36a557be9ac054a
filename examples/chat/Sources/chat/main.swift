// A chat program without a network, which shows how a program follows the modes of the keyboard.
//
//     swift run --package-path examples/chat
//
// Click into the text field or elsewhere, or press Tab in place of the mouse; Ctrl+C ends it. The
// keys that keymoded follows, or `keymodectl trigger clickMoreButton`, do the rest.

import KeymodeClient

/// An input of this program.
enum Input {
  case typed(Key)
  case told(Update)
}

let client = Client()
let terminal = Terminal()
let (inputs, arrivals) = AsyncStream.makeStream(of: Input.self)

terminal.read { key in
  if let key { arrivals.yield(.typed(key)) } else { arrivals.finish() }
}
let following = Task {
  for try await update in client.changes { arrivals.yield(.told(update)) }
}

var chat = Chat()
for await input in inputs {
  switch input {
  case .told(let update): chat.follow(update)
  case .typed(let key):
    // The chat sends taps to keymoded, and takes over the mode only when keymoded reports it:
    // keymoded alone knows the mode, however many programs and keyboards there are.
    if let event = chat.take(key, rows: terminal.rows) {
      do { try await client.trigger(event) } catch { chat.problem = "\(error)" }
    }
  }
  terminal.draw(chat.lines(rows: terminal.rows))
}
terminal.restore()
