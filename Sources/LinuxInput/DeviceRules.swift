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
    public init(_ text: String) {
      let parts = text.split(separator: ":", omittingEmptySubsequences: false)
      let numbers = parts.filter { $0.utf8.count == 4 }.compactMap { UInt16($0, radix: 16) }
      self =
        parts.count == 2 && numbers.count == 2
        ? .product(vendor: numbers[0], product: numbers[1]) : .name(text)
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
