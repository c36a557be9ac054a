/* Only reads a recording with libevemu, and counts the events. */
#include <evemu.h>
#include <stdio.h>

int main(int count, char **arguments) {
  if (count != 2) return 2;
  FILE *file = fopen(arguments[1], "r");
  struct evemu_device *device = evemu_new(NULL);
  if (!file || !device || evemu_read(device, file) <= 0) return 1;
  struct input_event event;
  long events = 0;
  while (evemu_read_event(file, &event) > 0) events++;
  printf("%ld\n", events);
  evemu_delete(device);
  fclose(file);
  return 0;
}
