/* peak COMMAND... - prints the peak resident memory of a command, in KiB. The kernel includes the
 * parent's memory before the exec, so the parent has to be as small as this program. */
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int count, char **arguments) {
  if (count < 2) return 2;
  pid_t child = fork();
  if (child == 0) {
    if (!freopen("/dev/null", "w", stdout)) _exit(1);
    execvp(arguments[1], arguments + 1);
    _exit(127);
  }
  int status;
  struct rusage usage;
  if (wait4(child, &status, 0, &usage) != child || status != 0) return 1;
  printf("%ld\n", usage.ru_maxrss);
  return 0;
}
