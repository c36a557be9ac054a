/* Kills a program at its call number $KILLED_AT, of those that change files: LD_PRELOAD has this library.
   A write is killed in its middle. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static int is_due(void) {
  static int count;
  const char *number = getenv("KILLED_AT");
  return number && ++count == atoi(number);
}

static void die(void) { kill(getpid(), SIGKILL); }

#define ORIGINAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

int open(const char *path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  mode_t mode = va_arg(rest, mode_t);
  va_end(rest);
  if (flags & O_CREAT && is_due()) die();
  return ORIGINAL(open)(path, flags, mode);
}

ssize_t write(int file, const void *bytes, size_t count) {
  if (is_due()) {
    ORIGINAL(write)(file, bytes, count / 2);
    die();
  }
  return ORIGINAL(write)(file, bytes, count);
}

int mkdir(const char *path, mode_t mode) {
  if (is_due()) die();
  return ORIGINAL(mkdir)(path, mode);
}

int fsync(int file) {
  if (is_due()) die();
  return ORIGINAL(fsync)(file);
}

int unlink(const char *path) {
  if (is_due()) die();
  return ORIGINAL(unlink)(path);
}

int rename(const char *from, const char *to) {
  if (is_due()) die();
  return ORIGINAL(rename)(from, to);
}
