/// Numbers the devices of a libinput recording in the order of their first events. Devices without
/// events, of which there may be many, get no numbers.
struct LibinputDevices {
  /// The number of lists of events so far.
  private(set) var lists = 0
  private var count = 0
  private var present: Int?

  /// Begins the next device.
  mutating func begin() { present = nil }

  /// Begins the list of events of the next device.
  mutating func beginList() {
    lists += 1
    present = nil
  }

  /// The number of the present device; a new one at its first event. A fragment without a list of
  /// events is of one device.
  mutating func number() -> Int {
    let number = present ?? count
    if present == nil { count += 1 }
    present = number
    return number
  }
}
