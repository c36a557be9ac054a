import Linux
import TestSupport
import Testing

@testable import Acting
@testable import Linux

@Suite("Liveness of the daemon", .timeLimit(.minutes(10)))
struct LivenessTests {
  @Test("a daemon that does not answer is noticed in each run")
  func eachRun() throws {
    let folder = try TemporaryFolder()
    let daemon = try ScriptedDaemon(
      in: folder.path, ScriptedDaemon.answers, withholding: .saysNothing)
    let loop = try EventLoop()
    var silences = 0
    let liveness = try Liveness(of: folder.path, on: loop) { _ in silences += 1 }
    for run in 1...2 {
      liveness.begin()
      let deadline = ContinuousClock.now + .seconds(boundSeconds)
      while silences < run {
        try #require(.now < deadline, "run \(run)")
        if try !loop.runOnce() { try awaitInput(loop.all.descriptor, "a silence") }
      }
      liveness.end()
    }
    #expect(silences == 2)
    withExtendedLifetime(daemon) {}
  }
}
