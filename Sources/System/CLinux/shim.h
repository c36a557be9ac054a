#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <linux/memfd.h>
#include <linux/uinput.h>
#include <systemd/sd-bus.h>
#include <systemd/sd-daemon.h>
#include <systemd/sd-device.h>
#include <systemd/sd-event.h>
#include <systemd/sd-id128.h>
#include <systemd/sd-login.h>

/* The C library declares these only for _GNU_SOURCE. */
int memfd_create(const char *name, unsigned flags);
int pipe2(int ends[2], int flags);
pid_t gettid(void);

/* Unmaps the program's code and constants. When a page is needed, the kernel maps it again from the
 * program's file. The kernel rounds the end up to a page. Writable data begins in a later page,
 * because the linker aligns it for the largest pages, which have 64 KiB on arm64. */
static inline void keymoded_unmap_code(void) {
  extern const char __executable_start[], etext[];
  (void)madvise((void *)__executable_start, (size_t)(etext - __executable_start), MADV_DONTNEED);
}

/* Unmaps the part of the stack that ended calls used. Only below the first thread's stack is 1 MiB
 * free of other mappings: see stack_guard_gap in the kernel's parameters. */
static inline void keymoded_unmap_unused_stack(void) {
  const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), size = 256 * 1024;
  const uintptr_t used = (uintptr_t)__builtin_frame_address(0) / page * page - page;
  if (gettid() == getpid())
    (void)madvise((void *)(used - size), size, MADV_DONTNEED);
}

/* See PR_SET_DUMPABLE in prctl(2). */
static inline int keymoded_forbid_dumps(void) { return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }

/* The ID of the process at the other end of a Unix socket, 0 if it is outside this process's PID
 * namespace, or -errno. The C library declares struct ucred only for _GNU_SOURCE. */
static inline int keymoded_peer_process(int socket) {
  struct {
    int process;
    unsigned user, group;
  } peer;
  socklen_t size = sizeof peer;
  if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0)
    return -errno;
  return peer.process;
}

/* Runs a program in a child process and a process group of its own, with no signal blocked or
 * ignored. `group` is a descriptor of the folder of the child's control group. The child has its
 * parent's standard input unless that is a terminal: a process in the background that reads from its
 * terminal is stopped. Returns a descriptor of the process once execvp(3) has succeeded, or -errno.
 *
 * The child has only the thread that called this, so it may take no lock: another thread may have
 * held the lock. The C library takes locks to reset signals, so the child calls the kernel. */
static inline int keymoded_spawn(char *const arguments[], int group, int *process) {
  /* struct clone_args of <linux/sched.h>, which clashes with <sched.h>. */
  struct {
    unsigned long long flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls;
    unsigned long long set_tid, set_tid_size, cgroup;
  } request = {0};
  int file = -1, error = 0, ends[2];
  if (pipe(ends) < 0)
    return -errno;
  fcntl(ends[0], F_SETFD, FD_CLOEXEC);
  fcntl(ends[1], F_SETFD, FD_CLOEXEC);
  request.flags = 0x1000 /* CLONE_PIDFD */ | 0x200000000 /* CLONE_INTO_CGROUP */;
  request.pidfd = (unsigned long long)(unsigned long)&file;
  request.exit_signal = SIGCHLD;
  request.cgroup = (unsigned long long)group;
  long child = syscall(SYS_clone3, &request, sizeof request);
  if (child < 0)
    error = errno;
  if (child == 0) {
    /* As an action: SIG_DFL, no flags, no restorer and no mask; as a mask: no signal. */
    static const unsigned long zeros[8];
    setpgid(0, 0);
    for (int number = 1; number < _NSIG; number++)
      syscall(SYS_rt_sigaction, number, zeros, NULL, _NSIG / 8);
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, zeros, NULL, _NSIG / 8);
    if (isatty(STDIN_FILENO))
      dup2(open("/dev/null", O_RDONLY | O_CLOEXEC), STDIN_FILENO);
    execvp(arguments[0], arguments);
    error = errno;
    (void)!write(ends[1], &error, sizeof error);
    _exit(127);
  }
  close(ends[1]);
  if (child > 0) {
    /* execvp closes the pipe: without an error, this reads the end of the pipe. */
    while (read(ends[0], &error, sizeof error) < 0 && errno == EINTR)
      ;
    if (error != 0) {
      waitpid((pid_t)child, NULL, 0);
      close(file);
    }
  }
  close(ends[0]);
  *process = (int)child;
  return error != 0 ? -error : file;
}

/* Opens a process that is no child, to wait for its end. Returns a descriptor or -errno. */
static inline int keymoded_open_process(int process) {
  int file = (int)syscall(SYS_pidfd_open, process, 0);
  return file < 0 ? -errno : file;
}

/* Kills the process that a descriptor stands for. Returns 0 or -1; see errno. */
static inline int keymoded_kill_process(int descriptor) {
  return (int)syscall(SYS_pidfd_send_signal, descriptor, SIGKILL, NULL, 0);
}

/* Makes a keyboard from an open /dev/uinput, with left Shift, Caps Lock, and the LEDs of Num Lock
 * and Caps Lock. Returns 0 or -errno. */
static inline int keymoded_make_keyboard(int uinput, unsigned short bus, unsigned short vendor,
                                         unsigned short product, const char *name) {
  struct uinput_setup setup = {.id = {.bustype = bus, .vendor = vendor, .product = product}};
  strncpy(setup.name, name, sizeof setup.name - 1);
  if (ioctl(uinput, UI_SET_EVBIT, EV_KEY) < 0 || ioctl(uinput, UI_SET_KEYBIT, KEY_LEFTSHIFT) < 0 ||
      ioctl(uinput, UI_SET_KEYBIT, KEY_CAPSLOCK) < 0 || ioctl(uinput, UI_SET_EVBIT, EV_LED) < 0 ||
      ioctl(uinput, UI_SET_LEDBIT, LED_NUML) < 0 || ioctl(uinput, UI_SET_LEDBIT, LED_CAPSL) < 0 ||
      ioctl(uinput, UI_DEV_SETUP, &setup) < 0 || ioctl(uinput, UI_DEV_CREATE) < 0)
    return -errno;
  return 0;
}

/* Presses (1) or releases (0) a key of such a keyboard, as one report. Returns 0 or -errno. */
static inline int keymoded_send_key(int uinput, unsigned short key, int value) {
  struct input_event report[] = {{.type = EV_KEY, .code = key, .value = value},
                                 {.type = EV_SYN, .code = SYN_REPORT}};
  return write(uinput, report, sizeof report) < 0 ? -errno : 0;
}
