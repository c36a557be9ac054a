import KeyboardModes
import Wire

@testable import Daemon

/// What a client sent and was told, held against what the design says of it.
struct Transcript {
  let isControl: Bool
  let sent: [UInt8]
  let replies: [Reply]
  let hasEnded: Bool
  let isClosed: Bool

  private static let ofControl = [
    ControllerInterface.trigger, ControllerInterface.listDevices,
    ControllerInterface.getStatistics,
  ]

  init(of peer: Peer) {
    isControl = peer.isControl
    sent = peer.sent
    replies = Self.replies(peer.received)
    hasEnded = peer.hasEnded
    isClosed = peer.isClosed
  }

  /// The messages in what was received; each must be what it would be written as.
  static func replies(_ received: some BidirectionalCollection<UInt8>) -> [Reply] {
    guard let last = received.last else { return [] }
    require(last == 0, "half a message")
    return received.dropLast().split(separator: 0, omittingEmptySubsequences: false).map { bytes in
      guard let json = try? JSON(parsing: bytes), let reply = try? Reply(parsing: Array(bytes))
      else {
        fatalError("no JSON: \(String(decoding: bytes, as: UTF8.self))")
      }
      require(Array(json.text.utf8) == Array(bytes) && reply.message.dropLast() == bytes)
      return reply
    }
  }

  /// Each call has its reply, and the connection ends where it should.
  ///
  /// - Parameters:
  ///   - changes: all that there were, by number.
  ///   - latest: the number of the last.
  func check(_ changes: [Int64: Change], latest: Int64) {
    var answers = replies[...]
    var rest = sent[...]
    while let end = rest.firstIndex(of: 0) {
      let message = Array(rest[..<end])
      rest = rest[(end + 1)...]
      guard message.count <= ClientSession.maxMessageBytes else { return checkEnd(answers) }
      let call: Call
      do {
        call = try Call(parsing: message)
      } catch .notJSON {
        return checkEnd(answers)
      } catch {
        guard case .invalidMember(let name) = error, let answer = answers.popFirst() else {
          fatalError("no reply to what is no call")
        }
        require(answer == Reply(VarlinkError.invalidParameter(name)))
        return checkEnd(answers)
      }
      if call.isOneway { continue }
      guard let answer = answers.popFirst() else { fatalError("no reply to \(call)") }
      check(answer, to: call)
      if answer.continues { return check(answer, answers, changes, latest) }
    }
    if rest.count > ClientSession.maxMessageBytes { return checkEnd(answers) }
    require(answers.isEmpty, "a reply to nothing")
    require(isClosed == hasEnded, "the connection ends, or does not, without a reason")
  }

  private func checkEnd(_ answers: ArraySlice<Reply>) {
    require(answers.isEmpty, "a reply after what ends the connection")
    require(isClosed, "the connection stays")
  }

  private func check(_ reply: Reply, to call: Call) {
    if !isControl, Self.ofControl.contains(call.method) {
      require(reply == Reply(VarlinkError.permissionDenied), "somebody may not do that")
    }
    let isMonitor = call.method == ControllerInterface.monitor && call.wantsMore
    require(reply.continues == (isMonitor && reply.error == nil))
    let isKnown =
      call.method.hasPrefix("org.keymoded.Controller.")
      || call.method.hasPrefix("org.varlink.service.")
    require(isKnown || reply.error == "org.varlink.service.InterfaceNotFound")
    require(reply.error.map { $0.hasPrefix("org.varlink.service.") } ?? true)
  }

  /// What a subscriber is told is what was, in order, and what was left out is counted.
  private func check(
    _ first: Reply, _ rest: ArraySlice<Reply>, _ changes: [Int64: Change], _ latest: Int64
  ) {
    guard let first = MonitorReply(first.parameters) else { fatalError("no state") }
    require(first.changes.allSatisfy { changes[$0.sequence] == $0 })
    var told = first.state.states.sequence
    require(first.changes.isEmpty || first.changes.last?.sequence == told)
    for reply in rest {
      guard reply.continues, let message = MonitorReply(reply.parameters),
        let missed = message.missed
      else { fatalError("no part of a stream: \(reply)") }
      told += missed
      for change in message.changes {
        told += 1
        require(change.sequence == told && changes[told] ?? change == change, "a gap")
      }
      require(message.state.states.sequence == told, "the state is not that of the changes")
    }
    require(told == latest || isClosed, "a subscriber is not told of the last changes")
  }
}
