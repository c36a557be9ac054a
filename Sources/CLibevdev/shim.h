#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>

#include <libevdev/libevdev.h>
#include <linux/input.h>

/* Swift sees neither the _IOW macros nor unions inside structs, so the few
 * ioctls that libevdev has no call for are made here. Each returns 0 or -errno. */

/* One bit for each type of event; EV_SYN always comes. */
static inline int keymoded_deliver_types(int fd, unsigned long types) {
  struct input_mask mask;
  memset(&mask, 0, sizeof mask);
  mask.type = EV_SYN; /* the mask of EV_SYN is the mask of event types */
  mask.codes_size = sizeof types; /* the kernel takes whole longs only */
  mask.codes_ptr = (unsigned long)&types;
  return ioctl(fd, EVIOCSMASK, &mask) < 0 ? -errno : 0;
}

static inline int keymoded_keys_down(int fd, unsigned char *keys, unsigned int size) {
  return ioctl(fd, EVIOCGKEY(size), keys) < 0 ? -errno : 0;
}

static inline int keymoded_stamp_with_boottime(int fd) {
  int clock = CLOCK_BOOTTIME;
  return ioctl(fd, EVIOCSCLOCKID, &clock) < 0 ? -errno : 0;
}

/* The fields behind input_event_sec and input_event_usec differ between machines. */
static inline long long keymoded_microseconds(const struct input_event *event) {
  return event->input_event_sec * 1000000LL + event->input_event_usec;
}
