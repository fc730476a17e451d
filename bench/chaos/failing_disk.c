/* A disk that fails on command, for LD_PRELOAD: every call that changes files below a folder is counted, and the chosen
 * one dies, or reports ENOSPC or EIO. What the C library writes internally (fwrite) is not seen; a full file system is
 * tried for real besides.
 *
 *   void disk_arm(const char *root, long at, int mode, int lasting)
 *       root     only files below it count
 *       at       the failing call, 1 is the next one; 0: only count
 *       mode     0: half of the write is done, then SIGKILL; else: errno that is reported
 *       lasting  all later writes fail, too (a full disk)
 *   long disk_calls(void)   how many calls were counted since disk_arm
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static char root[PATH_MAX];
static size_t root_length;
static atomic_long calls;
static long failing_at;
static int failing_mode;
static int failing_lasts;

void disk_arm(const char *path, long at, int mode, int lasting) {
    snprintf(root, sizeof root, "%s/", path);
    root_length = strlen(root);
    failing_at = at;
    failing_mode = mode;
    failing_lasts = lasting;
    atomic_store(&calls, 0);
}

long disk_calls(void) { return atomic_load(&calls); }

static int below(const char *path) { return root_length && strncmp(path, root, root_length) == 0; }

static int ours(int fd) {
    if (!root_length) return 0;
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return below(path);
}

/* 0: go on; 1: fail with errno set; 2: die after half of it. */
static int fate(void) {
    long call = atomic_fetch_add(&calls, 1) + 1;
    if (!failing_at || call < failing_at || (call > failing_at && !failing_lasts)) return 0;
    if (failing_mode == 0) return 2;
    errno = failing_mode;
    return 1;
}

static void die(void) { kill(getpid(), SIGKILL); for (;;) pause(); }

#define REAL(name) \
    static __typeof__(name) *real; \
    if (!real) real = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)

ssize_t write(int fd, const void *data, size_t size) {
    REAL(write);
    switch (ours(fd) ? fate() : 0) {
        case 1: return -1;
        case 2: real(fd, data, size / 2); die();
    }
    return real(fd, data, size);
}

#define PWRITE(name, offset_type) \
    ssize_t name(int fd, const void *data, size_t size, offset_type offset) { \
        REAL(name); \
        switch (ours(fd) ? fate() : 0) { \
            case 1: return -1; \
            case 2: real(fd, data, size / 2, offset); die(); \
        } \
        return real(fd, data, size, offset); \
    }
PWRITE(pwrite, off_t)
PWRITE(pwrite64, off64_t)

ssize_t writev(int fd, const struct iovec *parts, int count) {
    REAL(writev);
    switch (ours(fd) ? fate() : 0) {
        case 1: return -1;
        case 2: real(fd, parts, count / 2); die();
    }
    return real(fd, parts, count);
}

#define ON_FD(name, parameters, arguments) \
    int name parameters { \
        REAL(name); \
        switch (ours(fd) ? fate() : 0) { \
            case 1: return -1; \
            case 2: die(); \
        } \
        return real arguments; \
    }
ON_FD(fsync, (int fd), (fd))
ON_FD(fdatasync, (int fd), (fd))
ON_FD(ftruncate, (int fd, off_t length), (fd, length))
ON_FD(ftruncate64, (int fd, off64_t length), (fd, length))

#define ON_PATH(name, parameters, path, arguments) \
    int name parameters { \
        REAL(name); \
        switch (below(path) ? fate() : 0) { \
            case 1: return -1; \
            case 2: die(); \
        } \
        return real arguments; \
    }
ON_PATH(rename, (const char *from, const char *to), to, (from, to))
ON_PATH(mkdir, (const char *path, mode_t mode), path, (path, mode))
ON_PATH(unlink, (const char *path), path, (path))
ON_PATH(rmdir, (const char *path), path, (path))

int unlinkat(int directory, const char *path, int flags) {
    REAL(unlinkat);
    int counted = directory == AT_FDCWD || path[0] == '/' ? below(path) : ours(directory);
    switch (counted ? fate() : 0) {
        case 1: return -1;
        case 2: die();
    }
    return real(directory, path, flags);
}
