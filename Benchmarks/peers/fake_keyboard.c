/* Makes a pipe look like a keyboard, on a machine without evdev devices. LD_PRELOAD loads
 * this library into a program that follows devices. The program reads struct input_event
 * from the pipe as from a device; this library only answers the ioctls with which the
 * program opens a device. */
#include <errno.h>
#include <linux/input.h>
#include <stdarg.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static void set(unsigned char *bits, unsigned size, unsigned number) {
  if (number / 8 < size)
    bits[number / 8] |= 1 << number % 8;
}

int ioctl(int descriptor, unsigned long request, ...) {
  va_list arguments;
  va_start(arguments, request);
  void *data = va_arg(arguments, void *);
  va_end(arguments);
  if (_IOC_TYPE(request) != 'E')
    return syscall(SYS_ioctl, descriptor, request, data);
  if (_IOC_DIR(request) != _IOC_READ)
    return 0; /* settings, such as the clock and the mask */
  unsigned size = _IOC_SIZE(request);
  memset(data, 0, size);
  switch (_IOC_NR(request)) {
  case 0x01: /* EVIOCGVERSION */
    *(int *)data = EV_VERSION;
    return 0;
  case 0x06: /* EVIOCGNAME */
    strncpy(data, "Fake Keyboard", size - 1);
    return sizeof "Fake Keyboard";
  case 0x07: /* EVIOCGPHYS */
  case 0x08: /* EVIOCGUNIQ */
    errno = ENOENT;
    return -1;
  case 0x20: /* EVIOCGBIT: the types of events */
    set(data, size, EV_SYN);
    set(data, size, EV_KEY);
    return size;
  case 0x20 + EV_KEY:
    for (unsigned key = KEY_ESC; key <= KEY_COMPOSE; key++)
      set(data, size, key);
    return size;
  default:
    return 0;
  }
}
