#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/memfd.h>

/* Swift cannot call the variadic functions below. The C library defines these constants only for
 * _GNU_SOURCE; <linux/fcntl.h>, which has them too, clashes with <fcntl.h>. */
#ifndef F_ADD_SEALS
#define F_ADD_SEALS 1033
#define F_GET_SEALS 1034
#define F_SEAL_SEAL 1
#define F_SEAL_SHRINK 2
#define F_SEAL_GROW 4
#endif

/* Creates a memfd of a sealed size: no process that holds it can shrink it, which would make
 * reading it raise SIGBUS. Returns a descriptor or -errno. */
static inline int keymoded_sealed_memory(const char *name, long long size) {
  int fd = (int)syscall(SYS_memfd_create, name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (fd < 0)
    return -errno;
  if (ftruncate(fd, size) < 0 ||
      fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0) {
    int error = errno;
    close(fd);
    return -error;
  }
  return fd;
}

/* Whether the file is sealed against shrinking. */
static inline int keymoded_is_sealed(int fd) {
  int seals = fcntl(fd, F_GET_SEALS);
  return seals >= 0 && (seals & F_SEAL_SHRINK) != 0;
}

/* Names the calling thread; the kernel keeps the first 15 bytes. */
static inline void keymoded_name_thread(const char *name) {
  (void)prctl(PR_SET_NAME, name, 0, 0, 0);
}

/* See PR_SET_DUMPABLE in prctl(2). */
static inline int keymoded_forbid_dumps(void) { return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }

/* The ID of the process at the other end of a Unix socket, 0 if it is outside this process's PID
 * namespace, or -errno. The C library declares struct ucred only for _GNU_SOURCE. */
static inline int keymoded_peer_process(int socket) {
  struct {
    int process;
    unsigned user, group;
  } peer;
  socklen_t size = sizeof peer;
  if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0)
    return -errno;
  return peer.process;
}
