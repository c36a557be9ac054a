import Glibc

/// How to start a daemon, by what this machine has.
public struct StartAdvice: Hashable, Sendable {
  /// Whether the system's service manager has the service.
  public var hasService: Bool
  /// Whether the user is root.
  public var isRoot: Bool
  /// How the user can get permission to read keyboards; `nil` where it is there.
  public var permission: TerminalText?

  /// The advice for a machine that has this.
  public init(hasService: Bool, isRoot: Bool, permission: TerminalText?) {
    (self.hasService, self.isRoot, self.permission) = (hasService, isRoot, permission)
  }

  /// The advice for this machine and user.
  public static func ofThisMachine() -> StartAdvice {
    // As `sd_booted(3)` tells; the folders of units are those of `systemd.unit(5)`.
    let isBooted = access("/run/systemd/system", F_OK) == 0
    let folders = [
      "/etc/systemd/system", "/usr/local/lib/systemd/system", "/usr/lib/systemd/system",
    ]
    return StartAdvice(
      hasService: isBooted && folders.contains { access("\($0)/keymoded.service", F_OK) == 0 },
      isRoot: geteuid() == 0, permission: Membership.ofThisProcess(in: "input").advice)
  }

  /// The advice, if the sockets were looked for in `directory`.
  ///
  /// - Parameter isDefault: whether that is where clients look if the user names no directory.
  public func text(directory: String, isDefault: Bool) -> TerminalText {
    let place: TerminalText = isDefault ? "" : " --socket-dir \(directory)"
    if hasService, isDefault {
      return "start it with '\(isRoot ? "" : "sudo ")systemctl start keymoded'"
    }
    let start: TerminalText = "start one with 'keymoded\(place)'"
    let elsewhere: TerminalText =
      isDefault
      ? "" : ",\nor leave out --socket-dir and KEYMODED_SOCKET_DIR to look in the usual place"
    guard let permission else { return start + elsewhere }
    return start + elsewhere + ";\nto read keyboards it needs the group 'input': \(permission)"
  }
}

/// Whether a process has the permissions of a group.
public enum Membership: Hashable, Sendable {
  /// It has them, or needs none because it is root's.
  case member
  /// Its user has become a member since logging in.
  case afterLogin(String)
  /// This user is no member of this group.
  case missing(user: String, group: String)
  /// There is no such group.
  case noGroup

  /// What the user can do to get the permissions; `nil` if nothing can be done, or need be.
  public var advice: TerminalText? {
    switch self {
    case .member, .noGroup: nil
    case .afterLogin(let group): "you are in the group '\(group)' from your next login on"
    case .missing(let user, let group):
      "'sudo usermod -aG \(group) \(user)' adds you; then log in again"
    }
  }

  /// The membership of this process and its user.
  public static func ofThisProcess(in group: String) -> Membership {
    if geteuid() == 0 { return .member }
    guard let entry = getgrnam(group)?.pointee else { return .noGroup }
    var groups = [gid_t](repeating: 0, count: max(0, Int(getgroups(0, nil))))
    let count = getgroups(Int32(groups.count), &groups)
    if getegid() == entry.gr_gid || groups.prefix(max(0, Int(count))).contains(entry.gr_gid) {
      return .member
    }
    let gid = entry.gr_gid
    guard let user = getpwuid(geteuid())?.pointee, let name = user.pw_name else { return .noGroup }
    // Memberships in the database count from the next login on.
    var listed = [gid_t](repeating: 0, count: 1024)
    var size = Int32(listed.count)
    guard getgrouplist(name, user.pw_gid, &listed, &size) >= 0,
      listed.prefix(Int(size)).contains(gid)
    else { return .missing(user: String(cString: name), group: group) }
    return .afterLogin(group)
  }
}
