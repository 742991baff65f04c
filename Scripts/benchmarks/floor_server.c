/* The least that a server can do: one thread, and 300 fixed bytes and a newline for each line it reads.

   Usage: floor_server SOCKET */
#include <err.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { REPLY = 301, LINES = 4096 };
/* A read gets at most as many lines as bytes. */
static char requests[LINES], replies[LINES * REPLY];

int main(int count, char *arguments[]) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (count != 2 || strlen(arguments[1]) >= sizeof address.sun_path) errx(64, "usage: floor_server SOCKET");
    strcpy(address.sun_path, arguments[1]);
    memset(replies, 'x', sizeof replies);
    for (int line = 1; line <= LINES; line++) replies[line * REPLY - 1] = '\n';

    int listener = socket(AF_UNIX, SOCK_STREAM, 0), poll = epoll_create1(0);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) || listen(listener, 1024)) err(73, "listen");
    struct epoll_event event = {.events = EPOLLIN, .data.fd = listener}, ready[256];
    epoll_ctl(poll, EPOLL_CTL_ADD, listener, &event);
    for (;;) {
        int events = epoll_wait(poll, ready, 256, -1);
        for (int i = 0; i < events; i++) {
            int client = ready[i].data.fd;
            if (client == listener) {
                event.data.fd = accept(listener, NULL, NULL);
                epoll_ctl(poll, EPOLL_CTL_ADD, event.data.fd, &event);
                continue;
            }
            ssize_t received = read(client, requests, sizeof requests), lines = 0;
            for (char *at = requests; received > 0 && (at = memchr(at, '\n', requests + received - at)); at++) lines++;
            if (received <= 0 || send(client, replies, lines * REPLY, MSG_NOSIGNAL) < 0) close(client);
        }
    }
}
