/// The version of keymoded, as in CHANGELOG.md.
public let keymodedVersion = "0.2.0"
