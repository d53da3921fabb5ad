/* redis_sentinel.h - asks Sentinels for the address of the master.
 * Called by redis_link.
 *
 * Asks one after the other until one reports a master. Never blocks. Times are
 * microseconds of the clock of leases.
 */
#ifndef REDIS_SENTINEL_H
#define REDIS_SENTINEL_H

#include "redis_socket.h"

/** Initialized with zeros. */
typedef struct redis_sentinel_t {
    redis_socket_t socket;   /* to the current Sentinel */
    int next;                /* its index in the places */
    int refusals;            /* failures in this round */
    int64_t deadline;        /* of the reply */
    redis_place_t master;    /* valid after REDIS_SENTINEL_FOUND */
    bool expects_auth_reply; /* the next reply is to AUTH */
    bool has_replied;
    char why[REDIS_SOCKET_WHY + 160]; /* error of one Sentinel */
    bool has_reason;                  /* `why` is from a reply */
} redis_sentinel_t;

typedef enum redis_sentinel_state_t {
    REDIS_SENTINEL_ASKING, /* in progress: wait, then call again */
    REDIS_SENTINEL_FOUND,  /* master is set */
    REDIS_SENTINEL_FAILED  /* all Sentinels failed: why is set */
} redis_sentinel_state_t;

/** Start or continue to ask. After a result, the next call starts again, with the
 *  next Sentinel. */
redis_sentinel_state_t redis_sentinel_ask(redis_sentinel_t *sentinel,
                                          const engine_address_t *address,
                                          int64_t now);

#endif
