/* park_stand_in.h - what the MPM polls while a request is parked.
 *
 * The number of the client's socket stands for an epoll set that holds the real
 * socket: quiet while the client only waits, readable when it hangs up, and made
 * readable by asking whether the client can be written to, which it can. Two
 * descriptors a waiter.
 */
#ifndef PARK_STAND_IN_H
#define PARK_STAND_IN_H

#include <stdbool.h>
#include <stdint.h>

#include <httpd.h>

typedef struct admission_stand_in_t {
    int number;      /* the descriptor that the MPM knows */
    int socket;      /* the real socket meanwhile; -1: closed */
    int epoll;       /* until it takes the number; -1: closed */
    uint32_t events; /* that make it readable while the client only waits */
} admission_stand_in_t;

/**
 * Make the set, beside the socket. All that can fail is done here.
 *
 * @param ignores_end  the end of what the client sends says nothing
 * @param descriptors  none may have this number or a higher one
 * @return whether it worked; if not, nothing is open.
 */
bool admission_stand_in_open(admission_stand_in_t *stand_in, conn_rec *c,
                             bool ignores_end, apr_int64_t descriptors);

/** The same, only that the set is readable when the client can be written to. */
bool admission_stand_in_open_to_write(admission_stand_in_t *stand_in,
                                      conn_rec *c, apr_int64_t descriptors);

/** The same, only that the set is readable when the client has sent something. */
bool admission_stand_in_open_to_read(admission_stand_in_t *stand_in,
                                     conn_rec *c, apr_int64_t descriptors);

/** The set takes the socket's number. Cannot fail. */
void admission_stand_in_take(admission_stand_in_t *stand_in);

/** The socket gets its number back, unless the MPM has closed that. */
void admission_stand_in_yield(admission_stand_in_t *stand_in, conn_rec *c);

/** The set has the number: let the MPM find it readable. */
void admission_stand_in_wake(const admission_stand_in_t *stand_in);

/** Close what has not taken the number. */
void admission_stand_in_close(admission_stand_in_t *stand_in);

#endif
