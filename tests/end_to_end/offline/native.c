/* Stands in LD_PRELOAD of the offline tests: sees what compiled libraries do behind Python's back.
   Connections and datagrams to other machines and name lookups are noted in the log and refused. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static void note(const char *what, const char *where) {
    char line[512];
    const char *path = getenv("LUTRIN_TEST_NETWORK_LOG");
    int length = snprintf(line, sizeof line, "refused native %s %s\n", what, where ? where : "");
    int file = path ? open(path, O_WRONLY | O_APPEND | O_CREAT, 0600) : -1;
    if (file >= 0) {
        ssize_t written = write(file, line, (size_t)length);
        (void)written;
        close(file);
    }
}

static int is_here(const struct sockaddr *address, char *text, socklen_t size) {
    text[0] = 0;
    if (!address) return 1; /* a connected socket was judged when it connected */
    if (address->sa_family == AF_INET) {
        const struct in_addr *host = &((const struct sockaddr_in *)address)->sin_addr;
        inet_ntop(AF_INET, host, text, size);
        return ntohl(host->s_addr) >> 24 == 127;
    }
    if (address->sa_family == AF_INET6) {
        const struct in6_addr *host = &((const struct sockaddr_in6 *)address)->sin6_addr;
        inet_ntop(AF_INET6, host, text, size);
        return IN6_IS_ADDR_LOOPBACK(host);
    }
    return 1; /* sockets in the file system */
}

int connect(int socket, const struct sockaddr *address, socklen_t size) {
    char host[64];
    int (*next)(int, const struct sockaddr *, socklen_t) = dlsym(RTLD_NEXT, "connect");
    if (is_here(address, host, sizeof host)) return next(socket, address, size);
    note("connect", host);
    errno = ENETUNREACH;
    return -1;
}

ssize_t sendto(int socket, const void *data, size_t length, int flags, const struct sockaddr *address, socklen_t size) {
    char host[64];
    ssize_t (*next)(int, const void *, size_t, int, const struct sockaddr *, socklen_t) = dlsym(RTLD_NEXT, "sendto");
    if (is_here(address, host, sizeof host)) return next(socket, data, length, flags, address, size);
    note("sendto", host);
    errno = ENETUNREACH;
    return -1;
}

int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints, struct addrinfo **found) {
    unsigned char address[sizeof(struct in6_addr)];
    int (*next)(const char *, const char *, const struct addrinfo *, struct addrinfo **) = dlsym(RTLD_NEXT, "getaddrinfo");
    if (!name || !strcmp(name, "localhost") || inet_pton(AF_INET, name, address) == 1 || inet_pton(AF_INET6, name, address) == 1)
        return next(name, service, hints, found);
    note("getaddrinfo", name);
    return EAI_FAIL;
}
