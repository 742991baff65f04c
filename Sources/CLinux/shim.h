// epoll(7), eventfd(2), and GNU functions of the C library, which Swift's Glibc module leaves out.
#pragma once
#include <malloc.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

// Declared for GNU sources only.
extern int accept4(int socket, struct sockaddr *address, socklen_t *length, int flags);
extern int pipe2(int ends[2], int flags);
extern int pthread_setname_np(pthread_t thread, const char *name);
extern ssize_t preadv2(int descriptor, const struct iovec *vector, int count, off_t offset, int flags);
extern void *memmem(const void *bytes, size_t count, const void *part, size_t part_count);
extern int fallocate(int descriptor, int mode, off_t offset, off_t length);

// Of preadv2(2) and fallocate(2): parts of the kernel's interface, which never change.
enum { norris_rwf_nowait = 8, norris_falloc_keep_size = 1, norris_falloc_punch_hole = 2 };

// Bytes that malloc(3) has lent out. In C, because Swift takes the name of the function for that of its struct.
static inline size_t norris_allocated_bytes(void) {
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}
