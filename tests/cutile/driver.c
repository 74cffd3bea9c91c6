/* A CUDA driver that has no device: enough for cuTile to say what it would compile for. */
#include <string.h>

static int succeed(void) { return 0; }

static int version(int *number) {
  *number = 13040;
  return 0;
}

int cuGetProcAddress_v2(const char *name, void **function, int cuda, unsigned long flags, void *status) {
  *function = strcmp(name, "cuDriverGetVersion") ? (void *)succeed : (void *)version;
  return 0;
}
