/* redis_sentinel.h - asks Sentinels where the master is.
 * Called by redis_link.
 *
 * One after the other, until one knows. It never blocks.
 */
#ifndef REDIS_SENTINEL_H
#define REDIS_SENTINEL_H

#include "redis_socket.h"

/** Once zeroed. */
typedef struct redis_sentinel_t {
    redis_socket_t socket; /* to the one that is asked */
    int next;              /* of the places, who is asked next */
    int refusals;          /* since it was asked first */
    int64_t deadline;      /* of the answer */
    redis_place_t master;
    bool is_entering; /* the answer to its login comes first */
    bool has_answered;
    char why[REDIS_SOCKET_WHY + 160]; /* nobody knows, as one of them says it */
    bool has_reason;                  /* that is an answer */
} redis_sentinel_t;

typedef enum redis_sentinel_state_t {
    REDIS_SENTINEL_ASKS,  /* wait, then call again */
    REDIS_SENTINEL_KNOWS, /* the master is known */
    REDIS_SENTINEL_FAILS  /* none knows: why */
} redis_sentinel_state_t;

/** Go on asking; after an outcome it begins anew, with another Sentinel. */
redis_sentinel_state_t redis_sentinel_ask(redis_sentinel_t *sentinel,
                                          const engine_address_t *address,
                                          int64_t now);

/** What to wait for, while it asks: a descriptor, and until when. @return how many. */
unsigned redis_sentinel_wait_for(const redis_sentinel_t *sentinel,
                                 struct pollfd *descriptor, int64_t *wake_at);

#endif
