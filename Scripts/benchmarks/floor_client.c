/* The least that a client can do: sends one request to the socket argv[1] and prints the reply. Link with -static. */
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

int main(int count, char *arguments[]) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (count != 2 || strlen(arguments[1]) >= sizeof address.sun_path) return 64;
    strcpy(address.sun_path, arguments[1]);
    static const char request[] =
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"fact.random\",\"params\":{\"max_length\":80}}\n";
    char reply[65536];
    int server = socket(AF_UNIX, SOCK_STREAM, 0);
    if (connect(server, (struct sockaddr *)&address, sizeof address)) return 69;
    if (write(server, request, sizeof request - 1) < 0) return 69;
    ssize_t length = read(server, reply, sizeof reply);
    return length > 0 && write(STDOUT_FILENO, reply, length) == length ? 0 : 69;
}
