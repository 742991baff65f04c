/* Closed loop of requests on a Unix socket: a connection sends its next batch once it has all replies to the last one.

   Usage: load SOCKET REQUEST CONNECTIONS PIPELINE SECONDS NEWLINES_PER_REPLY

   Runs for so many seconds or until SIGTERM, then prints the replies per second, and the 50th and 99th percentile of
   the time from a batch to its last reply, in milliseconds. */
#include <err.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { LONGEST = 2000000, STALLED = 20000 };

struct connection {
    int socket, newlines;
    double sent;
};

static char *batch, replies[1 << 18];
static size_t length;
/* How many batches took so many microseconds. */
static unsigned times[LONGEST + 1];
static volatile sig_atomic_t stopped;

static void stop(int number) { stopped = number; }

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec * 1e-9;
}

static double send_batch(struct connection *connection) {
    connection->sent = now();
    if (write(connection->socket, batch, length) != (ssize_t)length) err(74, "write");
    return connection->sent;
}

static double percentile(double part, long batches) {
    int time = 0;
    for (long seen = times[0]; seen <= part * batches && time < LONGEST; seen += times[time]) time++;
    return time / 1000.0;
}

int main(int count, char *arguments[]) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (count != 7 || strlen(arguments[1]) >= sizeof address.sun_path)
        errx(64, "usage: load SOCKET REQUEST CONNECTIONS PIPELINE SECONDS NEWLINES_PER_REPLY");
    strcpy(address.sun_path, arguments[1]);
    int connections = atoi(arguments[3]), pipeline = atoi(arguments[4]), expected = atoi(arguments[6]) * pipeline;
    batch = malloc(pipeline * (strlen(arguments[2]) + 1) + 1);
    for (int i = 0; i < pipeline; i++) length += sprintf(batch + length, "%s\n", arguments[2]);
    sigaction(SIGTERM, &(struct sigaction){.sa_handler = stop}, NULL);

    int poll = epoll_create1(0);
    struct connection *all = calloc(connections, sizeof *all), *end = all + connections;
    for (struct connection *each = all; each < end; each++) {
        each->socket = socket(AF_UNIX, SOCK_STREAM, 0);
        if (connect(each->socket, (struct sockaddr *)&address, sizeof address)) err(69, "connect");
        epoll_ctl(poll, EPOLL_CTL_ADD, each->socket, &(struct epoll_event){.events = EPOLLIN, .data.ptr = each});
    }
    double begin = now(), time = begin;
    for (struct connection *each = all; each < end; each++) send_batch(each);
    long batches = 0;
    while (!stopped && time < begin + atof(arguments[5])) {
        struct epoll_event ready[256];
        int events = epoll_wait(poll, ready, 256, STALLED);
        if (events < 0 && errno == EINTR) continue;
        if (events <= 0) errx(75, "no reply after %ld batches", batches);
        for (int i = 0; i < events; i++) {
            struct connection *each = ready[i].data.ptr;
            ssize_t received = read(each->socket, replies, sizeof replies);
            if (received <= 0) errx(75, "closed by the server after %ld batches", batches);
            for (char *at = replies; (at = memchr(at, '\n', replies + received - at)) != NULL; at++) each->newlines++;
            if (each->newlines < expected) continue;
            each->newlines -= expected;
            batches++;
            double sent = each->sent;
            time = send_batch(each);
            times[time - sent < LONGEST * 1e-6 ? (int)((time - sent) * 1e6) : LONGEST]++;
        }
    }
    double rate = batches * pipeline / (time - begin);
    printf("%.0f %.3f %.3f\n", rate, percentile(0.5, batches), percentile(0.99, batches));
}
