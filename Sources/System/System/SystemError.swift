import Glibc

/// A system call that failed: what was attempted, on what, and the kernel's reason.
public struct SystemError: Error, Hashable, CustomStringConvertible {
  /// What was attempted, as a verb: `open`, `connect to`.
  public let operation: String
  /// The path or name that it was attempted on, if any.
  public let subject: String?
  /// The kernel's `errno`.
  public let code: Int32

  /// Words that say more than the kernel's reason, if there are any.
  private let clearerReason: String?

  /// The failure of `operation` with this `errno`.
  ///
  /// - Parameter reason: words that say more than the text of the `errno`, if there are any.
  public init(
    _ operation: String, _ subject: String? = nil, code: Int32, reason: String? = nil
  ) {
    (self.operation, self.subject, self.code) = (operation, subject, code)
    clearerReason = reason
  }

  /// The failure of `operation` with the `errno` of the call just made.
  public static func last(_ operation: String, _ subject: String? = nil) -> SystemError {
    SystemError(operation, subject, code: errno)
  }

  /// The reason in words, such as `No such file or directory`.
  public var reason: String { clearerReason ?? String(cString: strerror(code)) }

  /// `cannot open 'x': No such file or directory`
  public var description: String {
    guard let subject else { return "cannot \(operation): \(reason)" }
    return "cannot \(operation) '\(subject)': \(reason)"
  }
}

/// Repeats a call for as long as it fails with `EINTR`, because a signal interrupted it, and
/// returns what the call returned.
///
/// - Throws: the `errno` of a call that returned a negative number, except `EINTR`.
@discardableResult
public func retrying<Result: SignedInteger>(
  _ operation: String, _ subject: String? = nil, _ call: () -> Result
) throws(SystemError) -> Result {
  while true {
    let result = call()
    if result >= 0 { return result }
    if errno != EINTR { throw .last(operation, subject) }
  }
}
