public import JSON

extension Output {
  /// Adds a line of JSON, which escapes everything that a terminal would act on.
  public mutating func line(json value: some JSONWritable) { line { value.write(to: &$0) } }
}
