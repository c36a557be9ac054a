import Glibc

/// An arrow to the right, and one to the left, as the user's locale can show them.
///
/// Only the locales C and POSIX, which have nothing but ASCII, count, and only if the user named them:
/// a service has no locale at all, and its output is read elsewhere.
public let arrows: (right: String, left: String) = {
  let named = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.map { (name: String) in
    getenv(name).map { String(cString: $0) } ?? ""
  }
  let isASCII = named.first { !$0.isEmpty }.map { ["C", "POSIX"].contains($0) } ?? false
  return isASCII ? ("->", "<-") : ("→", "←")
}()
