import CLinux

/// Gives memory that this process has freed back to the kernel. The allocator keeps it for later
/// otherwise, whatever lies at its end. This takes about a millisecond for 30 MB.
public func releaseFreeMemory() { malloc_trim(0) }

/// Unmaps the code of the program and of its libraries. The kernel keeps the files in its cache, and
/// maps what runs later again, 64 KiB at a time. A program that has started is then as large as what it
/// does from now on, without what only the start needed.
public func unmapCode() { keymoded_unmap_code() }
