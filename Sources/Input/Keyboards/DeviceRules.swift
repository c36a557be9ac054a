import Glibc

/// Rules that allow or exclude devices, by their names and numbers.
public struct DeviceRules: Hashable, Sendable {
  /// A pattern that matches the name or the numbers of a device.
  public enum Pattern: Hashable, Sendable {
    /// The name of a device; `*`, `?` and `[…]` match as in a shell, see `fnmatch(3)`.
    case name(String)
    /// The vendor and product numbers of a device.
    case product(vendor: UInt16, product: UInt16)

    /// Reads a pattern such as `046d:c52b`, or the name of a device.
    ///
    /// - Returns: `nil` if the text looks like two numbers but does not have four digits for each:
    ///   as a name it would match nothing, and the user would not learn why.
    public init?(_ text: String) {
      let parts = text.split(separator: ":", omittingEmptySubsequences: false)
      guard parts.count == 2, Self.isNumeric(parts[0]), Self.isNumeric(parts[1]) || parts[1] == "*"
      else {
        self = .name(text)
        return
      }
      guard parts.allSatisfy({ $0.utf8.count == 4 }), let vendor = UInt16(parts[0], radix: 16),
        let product = UInt16(parts[1], radix: 16)
      else { return nil }
      self = .product(vendor: vendor, product: product)
    }

    /// Whether these are hexadecimal digits, with or without `0x` before them.
    private static func isNumeric(_ text: Substring) -> Bool {
      let digits = text.hasPrefix("0x") ? text.dropFirst(2) : text
      return !digits.isEmpty && digits.allSatisfy { $0.isASCII && $0.isHexDigit }
    }

    func matches(name: String, vendor: UInt16, product: UInt16) -> Bool {
      switch self {
      case .name(let pattern): fnmatch(pattern, name, 0) == 0
      case .product(let wantedVendor, let wantedProduct):
        (vendor, product) == (wantedVendor, wantedProduct)
      }
    }
  }

  /// If not empty, only devices that match one of these are followed.
  public var only: [Pattern]
  /// Devices that match one of these are not followed.
  public var ignore: [Pattern]

  /// Rules with these patterns; without any, all devices are allowed.
  public init(only: [Pattern] = [], ignore: [Pattern] = []) {
    (self.only, self.ignore) = (only, ignore)
  }

  /// Whether the rules allow a device of this name and these numbers.
  public func allow(name: String, vendor: UInt16, product: UInt16) -> Bool {
    func isAmong(_ patterns: [Pattern]) -> Bool {
      patterns.contains { $0.matches(name: name, vendor: vendor, product: product) }
    }
    return !isAmong(ignore) && (only.isEmpty || isAmong(only))
  }
}
