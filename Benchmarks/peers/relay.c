/* relay DEVICE SOCKET [keymoded] - sends its client five bytes for each key event of the device: the
 * least that a program between a keyboard and a client can do. With `keymoded`, it makes keymoded's
 * system calls instead: epoll_wait, two reads, and a message of the same size for each press. */
#include <fcntl.h>
#include <linux/input.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { MESSAGE_SIZE = 330 };

static int relay(int device, int client) {
  struct input_event events[64];
  ssize_t size;
  while ((size = read(device, events, sizeof events)) > 0)
    for (unsigned place = 0; place < size / sizeof *events; place++) {
      if (events[place].type != EV_KEY)
        continue;
      unsigned char message[5] = {events[place].value, events[place].code & 0xff,
                                  events[place].code >> 8, 0, '\n'};
      if (write(client, message, sizeof message) < 0)
        return 1;
    }
  return 0;
}

static int relay_as_keymoded(int device, int client) {
  char message[MESSAGE_SIZE];
  memset(message, ' ', sizeof message);
  int poll = epoll_create1(0);
  struct epoll_event wanted = {.events = EPOLLIN};
  if (fcntl(device, F_SETFL, O_NONBLOCK) < 0 || epoll_ctl(poll, EPOLL_CTL_ADD, device, &wanted) < 0)
    return 1;
  struct input_event events[64];
  for (;;) {
    struct epoll_event ready;
    if (epoll_wait(poll, &ready, 1, -1) < 0)
      return 1;
    /* As libevdev does, until there is nothing more. */
    ssize_t size;
    while ((size = read(device, events, sizeof events)) > 0)
      for (unsigned place = 0; place < size / sizeof *events; place++)
        if (events[place].type == EV_KEY && events[place].value == 1 &&
            send(client, message, sizeof message, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
          return 1;
  }
}

int main(int count, char **arguments) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (count < 3 || strlen(arguments[2]) >= sizeof address.sun_path)
    return 2;
  strcpy(address.sun_path, arguments[2]);
  int device = open(arguments[1], O_RDONLY);
  int listener = socket(AF_UNIX, SOCK_STREAM, 0);
  unlink(arguments[2]);
  if (device < 0 || bind(listener, (struct sockaddr *)&address, sizeof address) < 0 ||
      listen(listener, 1) < 0) {
    perror("relay");
    return 1;
  }
  int client = accept(listener, NULL, NULL);
  return count > 3 ? relay_as_keymoded(device, client) : relay(device, client);
}
