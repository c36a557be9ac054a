public import JSON

extension Output {
  /// Adds a line of JSON, which escapes everything that a terminal would act on.
  public mutating func line(_ json: JSON) { line { json.write(to: &$0) } }
}
