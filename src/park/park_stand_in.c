/* park_stand_in.c - the placeholder descriptor that the MPM polls while a
 * request is parked.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <apr_portable.h>
#include <http_core.h>

#include "park_stand_in.h"

static apr_int64_t descriptor_limit;

static bool set_watch(int epoll, int operation, int socket, uint32_t events)
{
    struct epoll_event event = { .events = events };

    return epoll_ctl(epoll, operation, socket, &event) == 0;
}

static void close_descriptor(int *descriptor)
{
    if (*descriptor >= 0) {
        close(*descriptor);
        *descriptor = -1;
    }
}

/* Waking needs a writable socket. Nothing is written to it while the request is
 * parked, so a writable socket remains writable. */
static bool is_writable(int socket)
{
    struct pollfd client = { .fd = socket, .events = POLLOUT };

    return poll(&client, 1, 0) == 1 && (client.revents & POLLOUT);
}

/* The descriptor that the MPM polls; -1 if the connection is closed. */
static int number_of(conn_rec *c)
{
    apr_os_sock_t number;

    return apr_os_sock_get(&number, ap_get_conn_socket(c)) == APR_SUCCESS
               ? number
               : -1;
}

void admission_stand_in_limit(apr_int64_t limit)
{
    descriptor_limit = limit;
}

/* Open the duplicate socket and the epoll set. The kernel assigns the lowest free
 * number, so a low number proves that enough descriptors are left for more
 * important uses. @return false with both closed. */
static bool open_set(admission_stand_in_t *stand_in)
{
    stand_in->socket = fcntl(stand_in->number, F_DUPFD_CLOEXEC, 0);
    stand_in->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (stand_in->socket >= 0 && stand_in->socket < descriptor_limit
        && stand_in->epoll >= 0 && stand_in->epoll < descriptor_limit
        && (stand_in->ignores_reset
            || set_watch(stand_in->epoll, EPOLL_CTL_ADD, stand_in->socket,
                         stand_in->events))) {
        return true;
    }
    admission_stand_in_close(stand_in);
    return false;
}

bool admission_stand_in_open(admission_stand_in_t *stand_in, conn_rec *c)
{
    stand_in->number = number_of(c);
    return stand_in->number >= 0
           && (stand_in->events == EPOLLOUT || is_writable(stand_in->number))
           && open_set(stand_in);
}

/* Let a descriptor take another one's number. Cannot fail: both are open. */
static void take_number(int *descriptor, int number)
{
    while (dup3(*descriptor, number, O_CLOEXEC) < 0 && errno == EINTR) {
    }
    close_descriptor(descriptor);
}

void admission_stand_in_take(admission_stand_in_t *stand_in)
{
    take_number(&stand_in->epoll, stand_in->number);
}

void admission_stand_in_yield(admission_stand_in_t *stand_in, conn_rec *c)
{
    if (number_of(c) == stand_in->number) {
        take_number(&stand_in->socket, stand_in->number);
    }
}

/* A socket whose reset is ignored is not in the set until now, so adding it can fail. */
bool admission_stand_in_wake(const admission_stand_in_t *stand_in)
{
    return set_watch(stand_in->number,
                     stand_in->ignores_reset ? EPOLL_CTL_ADD : EPOLL_CTL_MOD,
                     stand_in->socket, stand_in->events | EPOLLOUT);
}

void admission_stand_in_close(admission_stand_in_t *stand_in)
{
    close_descriptor(&stand_in->socket);
    close_descriptor(&stand_in->epoll);
}
