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

/// Gives back to the kernel the memory that this process hardly needs: freed memory, which the
/// allocator keeps otherwise, what deeper calls left of the stack, and the program's code. The
/// kernel has the code in its cache, and maps the pages that run again. This takes about 1 ms for
/// 30 MB of freed memory.
public func releaseMemory() {
  malloc_trim(0)
  keymoded_unmap_code()
  keymoded_unmap_unused_stack()
}
