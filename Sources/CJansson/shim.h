#include <jansson.h>

/* json_decref is an inline function on a macro-guarded field; one name for Swift. */
static inline void json_release(json_t *value) { json_decref(value); }
