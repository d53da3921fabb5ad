/* redis_node.h - one Redis: how it is entered, syncs and what it pushes.
 * Called by redis_link.
 *
 * Two connections: one for syncs, one for what is pushed. They never block; whatever
 * takes longer than the timeout, is garbage or too large ends both.
 */
#ifndef REDIS_NODE_H
#define REDIS_NODE_H

#include "engine.h"
#include "redis_socket.h"

#define REDIS_NODE_RUN 64
#define REDIS_NODE_SHA 48

typedef struct redis_node_t redis_node_t;

/** What it says, always from within redis_node_work(). */
typedef struct redis_node_ears_t {
    void *data;
    /** It has been entered. */
    void (*ready)(void *data, redis_node_t *node);
    /** The answer to a zone's sync. */
    void (*replied)(void *data, redis_node_t *node, uint32_t zone,
                    const law_fleet_reply_t *reply, const law_fleet_who_t *who);
    /** A node of a Cluster: a zone is elsewhere. @return why that cannot be. */
    const char *(*moved)(void *data, redis_node_t *node, uint32_t zone,
                         const redis_place_t *place);
    /** A zone is not served just now; others are. */
    void (*refused)(void *data, redis_node_t *node, uint32_t zone,
                    const char *why);
    /** Something unasked, of the zone with this key. */
    void (*pushed)(void *data, redis_node_t *node, const char *key,
                   size_t length, const law_fleet_push_t *push);
} redis_node_ears_t;

/* What is asked for first, in this order. */
typedef enum redis_step_t {
    REDIS_STEP_AUTH,
    REDIS_STEP_SELECT,
    REDIS_STEP_INFO,
    REDIS_STEP_ROLE,
    REDIS_STEP_SCRIPT,
    REDIS_STEP_TIME,
    REDIS_STEP_READY
} redis_step_t;

/** Once zeroed, then set up by redis_node_begin(). */
struct redis_node_t {
    const engine_setup_t *setup;
    redis_node_ears_t ears;
    redis_place_t place;
    redis_socket_t commands;
    redis_socket_t pushes;
    redis_step_t step; /* whose answer comes next */
    bool is_subscribed;
    bool is_of_cluster;
    char run[REDIS_NODE_RUN];
    char sha[REDIS_NODE_SHA];
    int64_t engine_msec; /* its time ... */
    int64_t engine_at;   /* ... and when it said so */
    uint32_t *asked;     /* zones whose answers come, in order: a ring */
    uint32_t first, count;
    int64_t deadline; /* of the next answer; 0: none is awaited */
    int64_t echo_at;  /* when pushes were known to come */
    int64_t
        echo_by; /* the next proof has to come by then; 0: none is awaited */
    int64_t now; /* of this work() */
};

/** Before all others, once. */
void redis_node_begin(redis_node_t *node, apr_pool_t *p,
                      const engine_setup_t *setup,
                      const redis_node_ears_t *ears);

/** Begin the connections to its place.
 *  @return why not, written to @a why; NULL: they have begun. */
const char *redis_node_connect(redis_node_t *node, int64_t now,
                               char why[REDIS_SOCKET_WHY]);

/** @return whether connections have begun. */
bool redis_node_is_connected(const redis_node_t *node);

/** @return whether syncs may be sent. */
bool redis_node_is_ready(const redis_node_t *node);

/** Read and write.
 *  @return why the connections have to end, in @a why; NULL: they go on. */
const char *redis_node_work(redis_node_t *node, int64_t now,
                            char why[REDIS_SOCKET_WHY]);

/** What to wait for, of a node that is connected: two descriptors, and until when. */
void redis_node_wait_for(const redis_node_t *node, struct pollfd *descriptors,
                         int64_t *wake_at);

/** Send a zone's sync. @return whether that can be. */
bool redis_node_sync(redis_node_t *node, uint32_t zone, const char *key,
                     const law_fleet_sync_t *sync, int64_t now);

/** Write what is left of syncs, briefly. */
void redis_node_flush(redis_node_t *node);

/** End the connections, if there are any. */
void redis_node_end(redis_node_t *node);

#endif
