import KeymodeInterface
import Testing
import Varlink

@testable import KeymodedService

extension ModeService {
  /// The complete first reply to a new subscriber.
  func firstMessage(after: Int64?, instance: String?) throws -> MonitorMessage {
    var (first, position) = try monitor(after: after, instance: instance)
    if let first { return first }
    var bytes: [UInt8] = []
    repeat { bytes += try #require(next(for: &position)) } while position.endOfMessage != nil
    return try #require(MonitorMessage(try Reply(parsing: bytes.dropLast()).parameters))
  }
}
