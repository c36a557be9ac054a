/// The version of keymoded, as in CHANGELOG.md.
public let keymodedVersion = "0.1.0"
