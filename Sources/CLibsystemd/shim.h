#include <errno.h>
#include <sys/socket.h>

#include <linux/sock_diag.h>
#include <systemd/sd-bus.h>
#include <systemd/sd-daemon.h>
#include <systemd/sd-device.h>
#include <systemd/sd-event.h>
#include <systemd/sd-id128.h>
#include <systemd/sd-login.h>

/* The number of messages that the kernel has dropped on this socket since its creation, because
 * the receive buffer was full, or -errno. */
static inline long long keymoded_lost_messages(int fd) {
  unsigned int values[SK_MEMINFO_VARS];
  socklen_t size = sizeof values;
  if (getsockopt(fd, SOL_SOCKET, SO_MEMINFO, values, &size) < 0)
    return -errno;
  return size > SK_MEMINFO_DROPS * sizeof values[0] ? values[SK_MEMINFO_DROPS] : 0;
}
