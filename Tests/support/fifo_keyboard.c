// A FIFO in place of a keyboard, for a machine without /dev/input.
//
// Loaded into keymoded or keyd by LD_PRELOAD, this answers the questions that they and libevdev ask a
// device. The events themselves are what a test writes into the FIFO. What makes a uinput device succeeds,
// and makes none; what is typed on it goes into the FIFO that FIFO_UINPUT names.
//
// A FIFO beside which there is a file of the same name with ".leds" has the LEDs of Num Lock and Caps Lock.
// Which of them are on is a digit in the file: 1 for Num Lock plus 2 for Caps Lock.
//
// A file of the same name with ".down" has the keys that are down when the FIFO is opened, a bit for each.

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/input.h>
#include <linux/uinput.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char name[] = "FIFO keyboard";

// The descriptors of the device, and which of its keys are down, by the events that were read.
static unsigned char is_keyboard[1024];
static unsigned char down[KEY_CNT / 8];

static void set_bit(unsigned char *bits, unsigned size, unsigned number) {
  if (number / 8 < size)
    bits[number / 8] |= 1 << number % 8;
}

// Reads the file beside the FIFO whose name ends with this; whether there is one.
static int read_beside(int descriptor, const char *suffix, void *bytes, size_t size) {
  char link[64], path[4096 + 8];
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  ssize_t length = readlink(link, path, 4096);
  if (length < 0)
    return 0;
  strcpy(path + length, suffix);
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return 0;
  syscall(SYS_read, file, bytes, size);
  close(file);
  return 1;
}

// The LEDs of the device that are on; -1 if it has none.
static int leds(int descriptor) {
  char digit = '0';
  return read_beside(descriptor, ".leds", &digit, 1) ? digit - '0' : -1;
}

// Devices are told apart by their numbers, which FIFOs do not have.
static int numbered(int result, struct stat *status) {
  if (result == 0 && S_ISFIFO(status->st_mode))
    status->st_rdev = status->st_ino;
  return result;
}

int open(const char *path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  int mode = va_arg(rest, int);
  va_end(rest);
  const char *uinput = getenv("FIFO_UINPUT");
  if (uinput && strcmp(path, "/dev/uinput") == 0)
    path = uinput;
  return syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

int stat(const char *path, struct stat *status) {
  return numbered(syscall(SYS_newfstatat, AT_FDCWD, path, status, 0), status);
}

int fstat(int descriptor, struct stat *status) {
  return numbered(syscall(SYS_fstat, descriptor, status), status);
}

ssize_t read(int descriptor, void *bytes, size_t size) {
  ssize_t count = syscall(SYS_read, descriptor, bytes, size);
  if (descriptor < 0 || descriptor >= (int)sizeof is_keyboard || !is_keyboard[descriptor])
    return count;
  // No test has it open any more: it is unplugged.
  if (count == 0) {
    errno = ENODEV;
    return -1;
  }
  struct input_event *events = bytes;
  for (ssize_t index = 0; (index + 1) * (ssize_t)sizeof *events <= count; index++) {
    if (events[index].type != EV_KEY)
      continue;
    unsigned char bit = 1 << events[index].code % 8;
    unsigned char *byte = &down[events[index].code / 8 % sizeof down];
    *byte = events[index].value ? *byte | bit : *byte & ~bit;
  }
  return count;
}

int ioctl(int descriptor, unsigned long request, ...) {
  va_list rest;
  va_start(rest, request);
  void *answer = va_arg(rest, void *);
  va_end(rest);
  if (_IOC_TYPE(request) == UINPUT_IOCTL_BASE)
    return 0;
  if (_IOC_TYPE(request) != 'E')
    return syscall(SYS_ioctl, descriptor, request, answer);
  if (descriptor >= 0 && descriptor < (int)sizeof is_keyboard && !is_keyboard[descriptor]) {
    is_keyboard[descriptor] = 1;
    read_beside(descriptor, ".down", down, sizeof down);
  }
  // What sets something: the clock, a mask of events.
  if (_IOC_DIR(request) != _IOC_READ)
    return 0;
  unsigned size = _IOC_SIZE(request);
  memset(answer, 0, size);
  switch (_IOC_NR(request)) {
  case _IOC_NR(EVIOCGVERSION):
    *(int *)answer = EV_VERSION;
    return 0;
  case _IOC_NR(EVIOCGID):
    *(struct input_id *)answer = (struct input_id){.bustype = BUS_VIRTUAL, .vendor = 1, .product = 1};
    return 0;
  case _IOC_NR(EVIOCGNAME(0)):
    strncpy(answer, name, size - 1);
    return sizeof name;
  case _IOC_NR(EVIOCGPHYS(0)):
  case _IOC_NR(EVIOCGUNIQ(0)):
    errno = ENOENT;
    return -1;
  case _IOC_NR(EVIOCGBIT(0, 0)):
    set_bit(answer, size, EV_SYN);
    set_bit(answer, size, EV_KEY);
    if (leds(descriptor) >= 0)
      set_bit(answer, size, EV_LED);
    return size;
  case _IOC_NR(EVIOCGBIT(EV_LED, 0)):
    set_bit(answer, size, LED_NUML);
    set_bit(answer, size, LED_CAPSL);
    return size;
  case _IOC_NR(EVIOCGLED(0)):
    *(unsigned char *)answer = leds(descriptor);
    return size;
  case _IOC_NR(EVIOCGBIT(EV_KEY, 0)):
    for (unsigned key = KEY_ESC; key <= KEY_COMPOSE; key++)
      set_bit(answer, size, key);
    return size;
  case _IOC_NR(EVIOCGKEY(0)):
    memcpy(answer, down, size < sizeof down ? size : sizeof down);
    return size;
  // It has nothing else.
  default:
    return 0;
  }
}
