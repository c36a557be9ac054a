import CLinux

/// Keeps this process's memory out of core dumps, and prevents other processes of the same user
/// from reading it.
///
/// An `RLIMIT_CORE` of 0 is not enough: the kernel ignores it if `core_pattern` pipes the dump to a
/// program; see `core(5)`. The corresponding C function is `prctl(PR_SET_DUMPABLE)`.
public func forbidMemoryDumps() {
  // This fails only for an invalid argument.
  _ = keymoded_forbid_dumps()
}

/// Returns freed memory to the kernel. Otherwise the allocator keeps it for later use. This takes
/// about a millisecond for 30 MB.
public func releaseFreeMemory() { malloc_trim(0) }
