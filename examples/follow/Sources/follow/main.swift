import Glibc
import KeymodeClient

let client = Client()
for try await update in client.changes {
  switch update {
  case .states(let state):
    for entry in state.states.entries { print(entry.machine, "is", entry.state) }
  case .change(let change): print(change.machine, "is now", change.to)
  case .missed(let count): print("missed", count.map(String.init) ?? "some")
  case .disconnected(let reason): print(reason)
  }
  fflush(nil)  // A pipe would get the lines late.
}
