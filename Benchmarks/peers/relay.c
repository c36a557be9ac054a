/* relay DEVICE SOCKET - sends its client five bytes for each key event of the device: the least that a
 * program between a keyboard and a client can do. */
#include <fcntl.h>
#include <linux/input.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

int main(int count, char **arguments) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (count != 3 || strlen(arguments[2]) >= sizeof address.sun_path)
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
  struct input_event events[64];
  ssize_t size;
  while ((size = read(device, events, sizeof events)) > 0)
    for (unsigned index = 0; index < size / sizeof *events; index++) {
      const struct input_event *event = &events[index];
      if (event->type != EV_KEY)
        continue;
      unsigned char message[5] = {event->value, event->code & 0xff, event->code >> 8, 0, '\n'};
      if (write(client, message, sizeof message) < 0)
        return 1;
    }
  return 0;
}
