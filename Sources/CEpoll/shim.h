// epoll(7), eventfd(2), and two GNU functions of the C library, which Swift's Glibc module leaves out.
#pragma once
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

// Declared for GNU sources only.
extern int accept4(int socket, struct sockaddr *address, socklen_t *length, int flags);
extern int pthread_setname_np(pthread_t thread, const char *name);
