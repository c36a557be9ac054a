/// The version of keymoded, as in CHANGELOG.md.
public let keymodedVersion = "1.0.0"
