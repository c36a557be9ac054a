/* Prints the microseconds since the change that KEYMODE_TIME tells of, from the first instruction of a
 * command of `keymodectl while`, or of one that a script starts. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

int main(void) {
  struct timespec now;
  clock_gettime(CLOCK_BOOTTIME, &now);
  const char *since = getenv("KEYMODE_TIME");
  printf("%lld\n", now.tv_sec * 1000000LL + now.tv_nsec / 1000 - (since ? atoll(since) : 0));
}
