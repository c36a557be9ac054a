/* The hooks of Swift's runtime for concurrency, by which a program runs its tasks itself; see
 * swift/Runtime/Concurrency.h and ConcurrencyHooks.def. They hold functions of Swift's calling
 * convention, for which C has no portable type. */
extern void *swift_task_enqueueGlobal_hook;
extern void *swift_task_asyncMainDrainQueue_hook;

/* By these two, a run loop serves libdispatch's main queue; Foundation's does. The handle is an
 * eventfd, readable while there is work. */
extern int _dispatch_get_main_queue_handle_4CF(void);
extern void _dispatch_main_queue_callback_4CF(void *unused);

/* Sets the hooks, for a program that has no other thread yet. */
static inline void keymoded_set_hooks(void *global, void *drain) {
  swift_task_enqueueGlobal_hook = global;
  swift_task_asyncMainDrainQueue_hook = drain;
}
