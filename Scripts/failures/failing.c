// Makes the n-th write or sync of files fail. For LD_PRELOAD (ld.so(8)).
//
// FAILING_REPORT names a file of two 64-bit numbers, which the test reads and writes while the program runs: the number
// of calls so far, and the call that fails, from 1; 0 for none. FAILING_KIND is one of
//   eio      that write or sync fails with EIO
//   full     that write and all later writes fail with ENOSPC
//   short    that write stores half of its bytes; the next write fails with ENOSPC
//   readonly that write or sync and all later ones fail with EROFS, as on a disk that the kernel stopped writing to
// FAILING_FOLDER is the folder of the files.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum kind { NONE, EIO_ONCE, FULL, SHORT, READONLY };
static enum kind kind;
static const char *folder;
static _Atomic int64_t none[2];
static _Atomic int64_t *report = none;  // calls, and the failing call
static _Atomic int cut_short;  // whether the last write stored half of its bytes

__attribute__((constructor)) static void begin(void) {
    const char *name = getenv("FAILING_KIND"), *path = getenv("FAILING_REPORT");
    if (!name || !path) return;
    int descriptor = open(path, O_RDWR | O_CLOEXEC);
    void *memory = mmap(NULL, 16, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (descriptor < 0 || memory == MAP_FAILED) abort();
    close(descriptor);
    folder = getenv("FAILING_FOLDER");
    report = memory;
    kind = !strcmp(name, "eio") ? EIO_ONCE : !strcmp(name, "full") ? FULL : !strcmp(name, "short") ? SHORT
        : !strcmp(name, "readonly") ? READONLY : NONE;
}

// Counts a call; returns its distance from the failing call, negative before it and without one.
static int64_t counted(void) {
    int64_t number = atomic_fetch_add(&report[0], 1) + 1, failing = atomic_load(&report[1]);
    return failing ? number - failing : -1;
}

// Files

static int in_folder(int descriptor) {
    char link[64], path[4096];
    if (!folder || kind == NONE) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length <= 0) return 0;
    path[length] = 0;
    return !strncmp(path, folder, strlen(folder));
}

// The result of a write or sync that fails: an error number, 0 for success, -1 for a short write.
static int fate(int descriptor, int writes) {
    int saved = errno, result = 0;
    if (in_folder(descriptor)) {
        int64_t after = counted();
        if (after == 0 && kind == SHORT && writes) {
            atomic_store(&cut_short, 1);
            result = -1;
        } else if (kind == SHORT && writes && atomic_exchange(&cut_short, 0)) {
            result = ENOSPC;
        } else if (after == 0 && kind == SHORT) {
            result = EIO;
        } else if (after == 0 && kind == EIO_ONCE) {
            result = EIO;
        } else if (after >= 0 && kind == READONLY) {
            result = EROFS;
        } else if (after >= 0 && kind == FULL && writes) {
            result = ENOSPC;
        }
    }
    errno = saved;
    return result;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define FAIL(error) do { errno = error; return -1; } while (0)

#define WRITE(name, ...)                                                      \
    {                                                                         \
        static __typeof__(&name) real;                                        \
        if (!real) real = REAL(name);                                         \
        int end = fate(descriptor, 1);                                        \
        if (end > 0) FAIL(end);                                               \
        if (end < 0 && size > 1) size /= 2;                                   \
        return real(descriptor, bytes, size, ##__VA_ARGS__);                  \
    }

ssize_t write(int descriptor, const void *bytes, size_t size) WRITE(write)
ssize_t pwrite(int descriptor, const void *bytes, size_t size, off_t offset) WRITE(pwrite, offset)
ssize_t pwrite64(int descriptor, const void *bytes, size_t size, off64_t offset) WRITE(pwrite64, offset)

#define SYNC(name, writes, ...)                                               \
    {                                                                         \
        static __typeof__(&name) real;                                        \
        if (!real) real = REAL(name);                                         \
        int end = fate(descriptor, writes);                                   \
        if (end > 0) FAIL(end);                                               \
        return real(descriptor, ##__VA_ARGS__);                               \
    }

int fsync(int descriptor) SYNC(fsync, 0)
int fdatasync(int descriptor) SYNC(fdatasync, 0)
int ftruncate(int descriptor, off_t size) SYNC(ftruncate, 0, size)
int ftruncate64(int descriptor, off64_t size) SYNC(ftruncate64, 0, size)
int fallocate(int descriptor, int mode, off_t offset, off_t size) SYNC(fallocate, 1, mode, offset, size)
int fallocate64(int descriptor, int mode, off64_t offset, off64_t size) SYNC(fallocate64, 1, mode, offset, size)
