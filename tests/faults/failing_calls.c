/* A library to preload in which one call of the system fails: the n-th `write`, `open`, `mkdir` or `fork` of a
 * process, and with `for_good` every one after it. Arm it by `arm`, or by FAILING_CALL=name:number[:for_good]. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

static char armed[16];
static long left_to_come;
static int for_good;

void arm(const char *call, long number, int persists)
{
    snprintf(armed, sizeof armed, "%s", call);
    left_to_come = number;
    for_good = persists;
}

long left(void) { return left_to_come; }

__attribute__((constructor)) static void begin(void)
{
    char call[16] = "", persists[16] = "";
    long number = 0;
    const char *asked = getenv("FAILING_CALL");
    if (asked && sscanf(asked, "%15[^:]:%ld:%15s", call, &number, persists) >= 2)
        arm(call, number, persists[0] != 0);
}

static int fails(const char *call, int error)
{
    if (strcmp(armed, call) || (left_to_come <= 0 && !for_good))
        return 0;
    if (--left_to_come > 0)
        return 0;
    errno = error;
    return 1;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t write(int file, const void *data, size_t size)
{
    return fails("write", ENOSPC) ? -1 : REAL(write)(file, data, size);
}

int mkdir(const char *path, mode_t mode) { return fails("mkdir", ENOSPC) ? -1 : REAL(mkdir)(path, mode); }

pid_t fork(void) { return fails("fork", EAGAIN) ? -1 : REAL(fork)(); }

pid_t vfork(void) { return fork(); }

#define OPEN(name)                                                   \
    int name(const char *path, int flags, ...)                       \
    {                                                                \
        va_list more;                                                \
        va_start(more, flags);                                       \
        mode_t mode = va_arg(more, mode_t);                          \
        va_end(more);                                                \
        return fails("open", ENOSPC) ? -1 : REAL(name)(path, flags, mode); \
    }
OPEN(open)
OPEN(open64)
