/* park_stand_in.h - the placeholder descriptor that the MPM polls while a
 * request is parked.
 *
 * The stand-in is an epoll set that contains the client's socket, and has taken
 * its descriptor number. The set is not readable while the client only waits,
 * and becomes readable when the client disconnects. To wake the connection, the
 * set also asks whether the socket is writable, which it is.
 *
 * A waiting request needs two descriptors. Functions do not block, and belong
 * to the thread that has the connection.
 */
#ifndef PARK_STAND_IN_H
#define PARK_STAND_IN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/epoll.h>

#include <httpd.h>

typedef struct admission_stand_in_t {
    int number;      /* the descriptor that the MPM polls */
    int socket;      /* duplicate of the client's socket; -1: closed */
    int epoll;       /* until it takes the number; -1: closed */
    uint32_t events; /* of the socket, that make the set readable: set before it
                         * is opened. EPOLLHUP and EPOLLERR always do */
    bool ignores_reset; /* the set gets the socket only to wake the connection:
                         * epoll always reports a reset */
} admission_stand_in_t;

/** Set the limit of this child: no descriptor of a stand-in has this number or
 *  a higher one. Call before any is opened. */
void admission_stand_in_limit(apr_int64_t limit);

/**
 * Create the set, next to the socket. Everything that can fail is done here,
 * except for a socket whose reset is ignored: admission_stand_in_wake() adds
 * it. A set whose only event is EPOLLOUT cannot be woken. @return whether it
 * worked; if not, nothing is open.
 */
bool admission_stand_in_open(admission_stand_in_t *stand_in, conn_rec *c);

/** @return whether the set is open, whether or not it has taken the number. */
static inline bool
admission_stand_in_is_open(const admission_stand_in_t *stand_in)
{
    return stand_in->socket >= 0;
}

/** Let the set take the socket's number. Cannot fail. */
void admission_stand_in_take(admission_stand_in_t *stand_in);

/** Give the socket its number back, unless the MPM has closed it. */
void admission_stand_in_yield(admission_stand_in_t *stand_in, conn_rec *c);

/** Make the set readable for the MPM. The set must have the number.
 *  @return false: no memory, or too many watches; only if resets are
 *  ignored. */
bool admission_stand_in_wake(const admission_stand_in_t *stand_in);

/** Close the descriptor that does not have the number. */
void admission_stand_in_close(admission_stand_in_t *stand_in);

#endif
