/* latency NAME[=FIFO]... - measures the time from a press of a key until a client reads its effect.
 *
 * The program creates a keyboard for each name, and prints "NAME NODE" for each; a FIFO takes the
 * index of a keyboard. It then reads one line for each name, in the same order, from standard input:
 *
 *   varlink PATH   keymoded's socket; the program subscribes to all changes
 *   keyd PATH      keyd's socket; the program subscribes to all layers
 *   lines PATH     a socket that sends without a request
 *
 * It waits until each socket is there, and until presses have an answer. Then it accepts any number
 * of lines "go ROUNDS SAMPLES PAUSE". For each it presses Shift on each keyboard in turn, with PAUSE
 * microseconds before each press, and prints "NAME ROUND NANOSECONDS" for each press, then "done".
 * The time runs on CLOCK_BOOTTIME, from before the call that writes the press until after the call
 * that reads the first bytes about it. */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <linux/uinput.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 16, LIMIT = 30 /* seconds */ };

static struct peer {
  const char *name;
  int keyboard;
  int input;
} peers[MOST];

/* The program that has to answer in time, or SIGALRM ends the measurement. */
static const char *volatile awaited = "";

static void no_answer(int signal) {
  (void)signal;
  (void)!write(STDERR_FILENO, awaited, strlen(awaited));
  (void)!write(STDERR_FILENO, " does not answer\n", 17);
  _exit(1);
}

static void fail(const char *what) {
  perror(what);
  exit(1);
}

static int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_BOOTTIME, &time);
  return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static void make(struct peer *peer, char *name, int number) {
  char *fifo = strchr(name, '=');
  if (fifo) {
    *fifo++ = 0;
    peer->name = name;
    /* For both, so that it opens at once, and no reader finds its end. */
    peer->keyboard = open(fifo, O_RDWR | O_CLOEXEC);
    if (peer->keyboard < 0)
      fail(fifo);
    printf("%s %s\n", name, fifo);
    return;
  }
  struct uinput_setup setup = {.id = {.bustype = BUS_USB, .vendor = 0x1209, .product = number}};
  peer->name = name;
  snprintf(setup.name, sizeof setup.name, "keyboard for %s", name);
  peer->keyboard = open("/dev/uinput", O_RDWR | O_CLOEXEC);
  ioctl(peer->keyboard, UI_SET_EVBIT, EV_KEY);
  for (int key = KEY_ESC; key <= KEY_COMPOSE; key++)
    ioctl(peer->keyboard, UI_SET_KEYBIT, key);
  char system_name[64] = "", pattern[160];
  if (ioctl(peer->keyboard, UI_DEV_SETUP, &setup) < 0 ||
      ioctl(peer->keyboard, UI_DEV_CREATE) < 0 ||
      ioctl(peer->keyboard, UI_GET_SYSNAME(sizeof system_name), system_name) < 0)
    fail("uinput");
  snprintf(pattern, sizeof pattern, "/sys/devices/virtual/input/%s/event*", system_name);
  glob_t found;
  if (glob(pattern, 0, NULL, &found) != 0)
    fail("node");
  printf("%s /dev/input/%s\n", name, strrchr(found.gl_pathv[0], '/') + 1);
  globfree(&found);
}

static void ask(int socket, const void *question, size_t size) {
  char answer[65536];
  if (write(socket, question, size) != (ssize_t)size || read(socket, answer, sizeof answer) <= 0)
    fail("ask");
}

static int connected(const char *kind, const char *path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  int client = socket(AF_UNIX, SOCK_STREAM, 0);
  strncpy(address.sun_path, path, sizeof address.sun_path - 1);
  while (connect(client, (struct sockaddr *)&address, sizeof address) < 0)
    usleep(50000); /* It has just been started. */
  if (strcmp(kind, "varlink") == 0) {
    static const char call[] = "{\"method\":\"org.keymoded.Controller.Monitor\",\"more\":true}";
    ask(client, call, sizeof call);
  } else if (strcmp(kind, "keyd") == 0) {
    struct {
      int type;
      uint32_t timeout;
      char data[4096];
      size_t size;
    } message = {.type = 6}; /* subscribes to layers, as `keyd listen` does */
    if (write(client, &message, sizeof message) != sizeof message)
      fail("keyd");
  }
  return client;
}

static void press(int keyboard, int value) {
  struct input_event events[] = {
      {.type = EV_KEY, .code = KEY_LEFTSHIFT, .value = value}, {.type = EV_SYN, .code = SYN_REPORT}};
  /* The kernel stamps what is written to uinput; what is written to a FIFO has only this time. */
  int64_t microseconds = now() / 1000;
  for (int index = 0; index < 2; index++) {
    events[index].input_event_sec = microseconds / 1000000;
    events[index].input_event_usec = microseconds % 1000000;
  }
  if (write(keyboard, events, sizeof events) != sizeof events)
    fail("press");
}

static void forget(int input) {
  char rest[65536];
  fcntl(input, F_SETFL, O_NONBLOCK);
  while (read(input, rest, sizeof rest) > 0)
    continue;
  fcntl(input, F_SETFL, 0);
}

/* A press before the program follows the keyboard has no answer. */
static void warm_up(struct peer *peer) {
  struct pollfd input = {.fd = peer->input, .events = POLLIN};
  usleep(200000);
  forget(peer->input); /* What it says at first. */
  do {
    press(peer->keyboard, 1);
    press(peer->keyboard, 0);
  } while (poll(&input, 1, 200) == 0);
}

static void measure(int count, int rounds, int samples, int pause) {
  struct timespec time = {.tv_sec = pause / 1000000, .tv_nsec = pause % 1000000 * 1000};
  char message[65536];
  int64_t *taken = malloc(sizeof *taken * count * samples);
  for (int round = 0; round < rounds; round++) {
    for (int sample = 0; sample < samples; sample++)
      for (int index = 0; index < count; index++) {
        struct peer *peer = &peers[index];
        nanosleep(&time, NULL);
        forget(peer->input);
        awaited = peer->name;
        alarm(LIMIT);
        int64_t pressed = now();
        press(peer->keyboard, 1);
        if (read(peer->input, message, sizeof message) <= 0)
          fail(peer->name);
        taken[sample * count + index] = now() - pressed;
        press(peer->keyboard, 0);
      }
    for (int index = 0; index < count * samples; index++)
      printf("%s %d %lld\n", peers[index % count].name, round, (long long)taken[index]);
  }
  alarm(0);
  free(taken);
}

int main(int count, char **names) {
  count--;
  if (count < 1 || count > MOST)
    return 2;
  for (int index = 0; index < count; index++)
    make(&peers[index], names[index + 1], index + 1);
  fflush(stdout);
  signal(SIGALRM, no_answer);
  char kind[16], path[108];
  for (int index = 0; index < count; index++) {
    if (scanf("%15s %107s", kind, path) != 2)
      return 2;
    awaited = peers[index].name;
    alarm(LIMIT);
    peers[index].input = connected(kind, path);
    warm_up(&peers[index]);
  }
  alarm(0);
  int rounds, samples, pause;
  while (scanf(" go %d %d %d", &rounds, &samples, &pause) == 3) {
    measure(count, rounds, samples, pause);
    printf("done\n");
    fflush(stdout);
  }
  return 0;
}
