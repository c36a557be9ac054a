#include <jansson.h>

/* For Swift: json_decref is an inline function that changes the reference count by a macro. */
static inline void json_release(json_t *value) { json_decref(value); }
