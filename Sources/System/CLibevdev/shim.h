#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>

#include <libevdev-1.0/libevdev/libevdev.h>
#include <linux/input.h>

/* ioctls without a function in libevdev. Swift does not import the macros of their
* numbers. Each function returns 0 or -errno. */

/* Sets the types of event to deliver, one bit each. The kernel always delivers EV_SYN. */
static inline int keymoded_deliver_types(int fd, unsigned long types) {
  struct input_mask mask;
  memset(&mask, 0, sizeof mask);
  mask.type = EV_SYN; /* the mask of EV_SYN is the mask of event types */
  mask.codes_size = sizeof types; /* the kernel accepts only a multiple of sizeof(long) */
  mask.codes_ptr = (unsigned long)&types;
  return ioctl(fd, EVIOCSMASK, &mask) < 0 ? -errno : 0;
}

/* Has the kernel deliver only these codes of EV_LED, one bit each. */
static inline int keymoded_deliver_leds(int fd, unsigned long codes) {
  struct input_mask mask;
  memset(&mask, 0, sizeof mask);
  mask.type = EV_LED;
  mask.codes_size = sizeof codes;
  mask.codes_ptr = (unsigned long)&codes;
  return ioctl(fd, EVIOCSMASK, &mask) < 0 ? -errno : 0;
}

/* Has the kernel deliver only the codes of EV_KEY from first up to, but not including, end. */
static inline int keymoded_deliver_keys(int fd, unsigned int first, unsigned int end) {
  enum { bits = 8 * sizeof(unsigned long) };
  unsigned long codes[(KEY_CNT + bits - 1) / bits];
  struct input_mask mask;
  memset(codes, 0, sizeof codes);
  memset(&mask, 0, sizeof mask);
  for (unsigned int code = first; code < end && code < KEY_CNT; code++)
    codes[code / bits] |= 1UL << code % bits;
  mask.type = EV_KEY;
  mask.codes_size = sizeof codes;
  mask.codes_ptr = (unsigned long)codes;
  return ioctl(fd, EVIOCSMASK, &mask) < 0 ? -errno : 0;
}

static inline int keymoded_keys_down(int fd, unsigned char *keys, unsigned int size) {
  return ioctl(fd, EVIOCGKEY(size), keys) < 0 ? -errno : 0;
}

static inline int keymoded_leds_on(int fd, unsigned short *leds) {
  return ioctl(fd, EVIOCGLED(sizeof *leds), leds) < 0 ? -errno : 0;
}

static inline int keymoded_stamp_with_boottime(int fd) {
  int clock = CLOCK_BOOTTIME;
  return ioctl(fd, EVIOCSCLOCKID, &clock) < 0 ? -errno : 0;
}

/* input_event_sec and input_event_usec are macros for fields that differ by architecture. */
static inline long long keymoded_microseconds(const struct input_event *event) {
  return event->input_event_sec * 1000000LL + event->input_event_usec;
}

/* libevdev's messages can name keys, and no log may name keys. This is C, because Swift 6.0 crashes
 * for arm64 where a function takes a pointer to a function with a va_list. */
static inline void keymoded_silence_libevdev(void) { libevdev_set_log_function(NULL, NULL); }
