import KeyboardModes

/// Plays what `bytes` say to a server twice: each client's bytes at once, and in single ones.
func attemptVarlink(_ bytes: [UInt8]) {
  let script = VarlinkScript(bytes)
  let (whole, pieces) = (play(script, isWhole: true), play(script, isWhole: false))
  // A client whose bytes the kernel did not take at once sent them at another time.
  guard !whole.wasHeldUp, !pieces.wasHeldUp else { return }
  require(whole.received == pieces.received, "it matters how the bytes arrive")
  require(whole.changes == pieces.changes, "the changes depend on how the bytes arrive")
}

private struct Outcome {
  let received: [[UInt8]]
  let changes: [Int64: Change]
  let wasHeldUp: Bool
}

private func play(_ script: VarlinkScript, isWhole: Bool) -> Outcome {
  let scene: Scene
  do { scene = try Scene(isWhole: isWhole) } catch { fatalError("\(error)") }
  for step in script.steps { scene.perform(step) }
  scene.finish()
  var present: Int64 = 0
  for peer in scene.peers where !peer.hasLeft {
    Transcript(of: peer).check(scene.changes, latest: scene.latest)
    if !peer.isClosed { present += 1 }
  }
  require(scene.clientCount() == present, "a client is kept that has gone")
  return Outcome(
    received: scene.peers.map(\.received), changes: scene.changes,
    wasHeldUp: scene.peers.contains(where: \.wasHeldUp))
}
