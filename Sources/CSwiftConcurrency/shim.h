/* The hooks of Swift's runtime for concurrency, by which a program runs its tasks itself; see
 * swift/Runtime/Concurrency.h and ConcurrencyHooks.def. They hold functions of Swift's calling
 * convention, for which C has no portable type. */
extern void *swift_task_enqueueGlobal_hook;
extern void *swift_task_enqueueMainExecutor_hook;
extern void *swift_task_asyncMainDrainQueue_hook;

/* Sets them, for a program that has no other thread yet. */
static inline void keymoded_set_hooks(void *global, void *main_executor, void *drain) {
  swift_task_enqueueGlobal_hook = global;
  swift_task_enqueueMainExecutor_hook = main_executor;
  swift_task_asyncMainDrainQueue_hook = drain;
}
