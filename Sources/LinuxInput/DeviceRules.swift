internal import Evdev
internal import Glibc

/// Which devices are followed, of those that are keyboards or have a bound key.
public struct DeviceRules: Hashable, Sendable {
  /// What a device is known by.
  public enum Pattern: Hashable, Sendable {
    /// Its name, where `*`, `?` and `[…]` stand for what they do in a shell.
    case name(String)
    /// The numbers of its maker and kind.
    case product(vendor: UInt16, product: UInt16)

    /// `046d:c52b`, or the name of a device.
    ///
    /// - Returns: `nil` for what looks like numbers but has not four digits each: as a name it would
    ///   match nothing, and nobody would know why.
    public init?(_ text: String) {
      let colon = UInt8(ascii: ":")
      // There can be very many, and most have nothing to split.
      guard text.utf8.contains(colon) else {
        self = .name(text)
        return
      }
      let parts = text.utf8.split(separator: colon, omittingEmptySubsequences: false)
        .map { Substring($0) }
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

    /// Whether these are hexadecimal digits, with or without what C puts before them.
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

  /// Only devices that one of these matches; all where there are none.
  public var only: [Pattern]
  /// No device that one of these matches.
  public var ignore: [Pattern]

  /// All devices, unless other rules are given.
  public init(only: [Pattern] = [], ignore: [Pattern] = []) {
    self.only = only
    self.ignore = ignore
  }

  /// Whether a device of this name and these numbers is followed.
  public func allow(name: String, vendor: UInt16, product: UInt16) -> Bool {
    func isAmong(_ patterns: [Pattern]) -> Bool {
      patterns.contains { $0.matches(name: name, vendor: vendor, product: product) }
    }
    return !isAmong(ignore) && (only.isEmpty || isAmong(only))
  }

  func allow(_ device: InputDevice) -> Bool {
    allow(name: device.name, vendor: device.vendor, product: device.product)
  }
}
