// A chat program without a network. It shows how a program follows the states of the keyboard; README.md
// says how to run it, and where to begin reading.

import KeymodeClient

/// An input of this program.
enum Input {
  case terminal(Action, time: Int64)
  case keymoded(Update)
  case events([String])
  case failed(ClientError)
}

let client = Client()
let terminal = Terminal()
let (inputs, arrivals) = AsyncStream.makeStream(of: Input.self)
let (taps, sender) = AsyncStream.makeStream(of: String.self)

terminal.read { action, time in
  if let action { arrivals.yield(.terminal(action, time: time)) } else { arrivals.finish() }
}
Task {
  do throws(ClientError) {
    for try await update in client.changes {
      arrivals.yield(.keymoded(update))
      // The user's table may have events of its own.
      guard case .states = update, let machines = try? await client.machines() else { continue }
      arrivals.yield(.events(machines.flatMap(\.events)))
    }
  } catch { arrivals.yield(.keymoded(.disconnected(error))) }
}
// The chat sends taps to keymoded, and changes its state only when keymoded reports the change. So all
// programs show the same state, whichever program or keyboard changes it. The loop below never waits for
// an answer: a daemon that hangs does not stop the typing.
Task {
  for await event in taps {
    do throws(ClientError) { try await client.trigger(event) } catch {
      arrivals.yield(.failed(error))
    }
  }
}

var chat = Chat()
terminal.draw(chat.lines(terminal.size), hasCursor: chat.isEditing)
for await input in inputs {
  switch input {
  case .keymoded(let update): chat.follow(update)
  case .events(let names): chat.learn(names)
  case .failed(let error): chat.problem = error.line
  case .terminal(let action, let time):
    let event = chat.handle(action, at: time, rows: terminal.size.rows)
    if let event { sender.yield(event) }
  }
  terminal.draw(chat.lines(terminal.size), hasCursor: chat.isEditing)
}
terminal.restore()
