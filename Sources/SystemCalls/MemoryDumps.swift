internal import CLinux

/// Keeps the memory of this process out of core dumps, and out of reach for others of the same user.
///
/// A limit of 0 (`RLIMIT_CORE`) is not enough: the kernel ignores it where `core_pattern` names a
/// program that takes the dump; see `core(5)`. The corresponding C function is
/// `prctl(PR_SET_DUMPABLE)`.
public func forbidMemoryDumps() {
  // It fails for no reason but a wrong argument.
  _ = keymoded_forbid_dumps()
}
