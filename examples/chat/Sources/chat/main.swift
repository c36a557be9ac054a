// A chat program without a network. It shows how a program follows the modes of the keyboard.
//
//     swift run --package-path examples/chat
//
// Click into the text field or elsewhere, or press Tab instead of the mouse. Use bound keys, or
// `keymodectl trigger clickMoreButton`, to change the other modes. Ctrl+C ends the program.

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
    // The chat sends taps to keymoded, and changes its mode only when keymoded reports the change.
    // So all programs show the same mode, whichever program or keyboard changes it.
    if let event = chat.take(key, rows: terminal.rows) {
      do { try await client.trigger(event) } catch { chat.problem = "\(error)" }
    }
  }
  terminal.draw(chat.lines(rows: terminal.rows))
}
terminal.restore()
