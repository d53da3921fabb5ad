/* redis_link.c - Redis as an engine: which zones are with which node.
 * Called by mod_admission_redis.
 */
#include <stdio.h>
#include <string.h>

#include <apr_strings.h>

#include "redis_address.h"
#include "redis_link.h"
#include "redis_node.h"
#include "redis_sentinel.h"

#define PAUSE_LEAST_USEC INT64_C(20000)
#define PAUSE_MOST_USEC INT64_C(1000000)
#define PAUSE_ZONE_USEC INT64_C(200000)

/* Of a Cluster, that have zones. Each has two descriptors. */
#define NODES (ENGINE_DESCRIPTORS / 2)

/* The one that is connected without being told of. */
#define FIRST 0

/* Nodes of a Cluster that agree send a zone on once. */
#define MOST_MOVES 4

#define WHY_ROOM 400

typedef struct zone_t {
    const char *key;
    unsigned node;            /* that it is with */
    unsigned moves;           /* since it was answered last */
    int64_t next_try;         /* of one that is refused; 0: it does not pause */
    char run[REDIS_NODE_RUN]; /* of the node that it was with last */
} zone_t;

typedef struct seat_t {
    redis_node_t node;
    bool is_named;    /* by another node: not lost since */
    int64_t next_try; /* to connect */
    int64_t pause;
} seat_t;

struct engine_t {
    const engine_setup_t *setup;
    const engine_address_t *address;
    zone_t *zones;
    seat_t seats[NODES];
    redis_sentinel_t sentinel;
    int next;    /* of the places, where the first node is looked for */
    int64_t now; /* of this work() */
    unsigned chance;
};

/* ---- zones and nodes ----------------------------------------------------------- */

static unsigned number_of(const engine_t *engine, const redis_node_t *node)
{
    unsigned n;

    for (n = 0; &engine->seats[n].node != node; n++) {
    }
    return n;
}

static bool has_zones(const engine_t *engine, unsigned number)
{
    uint32_t n;

    for (n = 0; n < engine->setup->count; n++) {
        if (engine->zones[n].node == number) {
            return true;
        }
    }
    return false;
}

/* The zone's syncs go to its node from now on. @return whether what it knew is of
 * another run. */
static bool join(engine_t *engine, uint32_t n)
{
    const engine_ears_t *told = &engine->setup->ears;
    zone_t *zone = &engine->zones[n];
    const redis_node_t *node = &engine->seats[zone->node].node;
    bool had_run = zone->run[0] != '\0';
    bool is_new = strcmp(zone->run, node->run) != 0;

    zone->next_try = 0;
    memcpy(zone->run, node->run, REDIS_NODE_RUN);
    told->joined(told->data, n, is_new, node->engine_msec, node->engine_at);
    return is_new && had_run;
}

/* A zone is with this node from now on. */
static void place(engine_t *engine, uint32_t n, unsigned number)
{
    const engine_ears_t *told = &engine->setup->ears;

    engine->zones[n].node = number;
    if (redis_node_is_ready(&engine->seats[number].node)) {
        join(engine, n);
    }
    else {
        told->parted(told->data, n);
    }
}

static void ready(void *data, redis_node_t *node)
{
    engine_t *engine = data;
    unsigned number = number_of(engine, node);
    bool is_new = false;
    uint32_t n;

    for (n = 0; n < engine->setup->count; n++) {
        if (engine->zones[n].node == number && join(engine, n)) {
            is_new = true;
        }
    }
    engine->setup->ears.connected(engine->setup->ears.data, is_new);
}

/* ---- what is lost --------------------------------------------------------------- */

/* One place needs no name: the engine is called by it. */
static bool is_known(const engine_t *engine, unsigned number)
{
    return engine->address->path
           || (number == FIRST && engine->address->count == 1
               && !engine->address->sentinel);
}

/* What is wrong with a node, and with which. */
static const char *describe(const engine_t *engine, unsigned number,
                            const char *why, char text[WHY_ROOM])
{
    const redis_place_t *at = &engine->seats[number].node.place;

    if (at->port == 0 || is_known(engine, number)) {
        return why;
    }
    snprintf(text, WHY_ROOM, "%s:%d: %s", at->host, at->port, why);
    return text;
}

/* Its connections end, and are made anew after a pause that grows. */
static void give_up(engine_t *engine, unsigned number, const char *why)
{
    const engine_ears_t *told = &engine->setup->ears;
    seat_t *seat = &engine->seats[number];
    char text[WHY_ROOM];
    uint32_t n;

    redis_node_end(&seat->node);
    seat->is_named = false;
    engine->chance = engine->chance * 1103515245U + 12345U;
    seat->next_try = engine->now + seat->pause / 2
                     + (int64_t)(engine->chance >> 8) % (seat->pause / 2 + 1);
    seat->pause = seat->pause * 2 < PAUSE_MOST_USEC ? seat->pause * 2
                                                    : PAUSE_MOST_USEC;
    for (n = 0; n < engine->setup->count; n++) {
        if (engine->zones[n].node == number) {
            engine->zones[n].moves = 0;
            told->parted(told->data, n);
        }
    }
    told->lost(told->data, describe(engine, number, why, text));
}

/* Of a node that was lost: the first one knows where they are now. If that is still
 * there, its pause goes on. */
static void send_back(engine_t *engine, unsigned number)
{
    uint32_t n;

    for (n = 0; n < engine->setup->count; n++) {
        if (engine->zones[n].node == number) {
            place(engine, n, FIRST);
        }
    }
}

/* ---- what nodes say ------------------------------------------------------------- */

static void replied(void *data, redis_node_t *node, uint32_t zone,
                    const law_fleet_reply_t *reply, const law_fleet_who_t *who)
{
    engine_t *engine = data;
    const engine_ears_t *told = &engine->setup->ears;

    engine->zones[zone].moves = 0;
    engine->seats[number_of(engine, node)].pause = PAUSE_LEAST_USEC;
    told->replied(told->data, zone, reply, who, engine->now);
}

/* The connection goes on, for other zones. */
static void refused(void *data, redis_node_t *node, uint32_t n, const char *why)
{
    engine_t *engine = data;
    const engine_ears_t *told = &engine->setup->ears;
    char text[WHY_ROOM];

    engine->zones[n].next_try = engine->now + PAUSE_ZONE_USEC;
    told->parted(told->data, n);
    told->refused(told->data, n,
                  describe(engine, number_of(engine, node), why, text));
}

static void pushed(void *data, redis_node_t *node, const char *key,
                   size_t length, const law_fleet_push_t *push)
{
    engine_t *engine = data;
    const engine_ears_t *told = &engine->setup->ears;
    unsigned number = number_of(engine, node);
    uint32_t n;

    for (n = 0; n < engine->setup->count; n++) {
        const zone_t *zone = &engine->zones[n];

        if (zone->node == number && strlen(zone->key) == length
            && memcmp(zone->key, key, length) == 0) {
            told->pushed(told->data, n, push, engine->now);
        }
    }
}

/* The node at that place, or one that has no zones. @return its number; NODES: there
 * is none. */
static unsigned find_node(engine_t *engine, const redis_place_t *at)
{
    unsigned number, unused = NODES;

    for (number = 0; number < NODES; number++) {
        if (redis_place_is_same(&engine->seats[number].node.place, at)) {
            return number;
        }
        if (number != FIRST && !has_zones(engine, number)) {
            unused = number;
        }
    }
    if (unused < NODES) {
        redis_node_end(&engine->seats[unused].node);
        engine->seats[unused].node.place = *at;
        /* Its pause goes on until it is answered: a place that is new each time is
         * no reason to hurry. */
        engine->seats[unused].next_try = engine->now;
    }
    return unused;
}

static const char *moved(void *data, redis_node_t *node, uint32_t zone,
                         const redis_place_t *at)
{
    engine_t *engine = data;
    unsigned number;

    (void)node;
    if (++engine->zones[zone].moves > MOST_MOVES) {
        return "the nodes of the Cluster send a zone to one another";
    }
    number = find_node(engine, at);
    if (number == NODES) {
        return "zones are on too many nodes of the Cluster";
    }
    engine->seats[number].is_named = true;
    place(engine, zone, number);
    return NULL;
}

/* ---- begin and end ---------------------------------------------------------- */

/* A zone's key: its name without braces, which choose where a Cluster keeps it. */
static const char *key_of(apr_pool_t *p, const char *zone)
{
    char *name = apr_pstrdup(p, zone);
    char *c;

    for (c = name; *c; c++) {
        if (*c == '{' || *c == '}' || *c == ' ') {
            *c = '_';
        }
    }
    return apr_pstrcat(p, "adm:{", name, "}", NULL);
}

engine_t *redis_link_open(apr_pool_t *p, const engine_setup_t *setup)
{
    engine_t *engine = apr_pcalloc(p, sizeof(*engine));
    const redis_node_ears_t ears = { .data = engine,
                                     .ready = ready,
                                     .replied = replied,
                                     .moved = moved,
                                     .refused = refused,
                                     .pushed = pushed };
    uint32_t n;

    engine->setup = setup;
    engine->address = setup->address;
    engine->zones = apr_pcalloc(p, (setup->count + 1) * sizeof(zone_t));
    for (n = 0; n < setup->count; n++) {
        engine->zones[n].key = key_of(p, setup->zones[n]);
    }
    for (n = 0; n < NODES; n++) {
        redis_node_begin(&engine->seats[n].node, p, setup, &ears);
        engine->seats[n].pause = PAUSE_LEAST_USEC;
    }
    for (n = 0; setup->self.id[n]; n++) {
        engine->chance = engine->chance * 31 + (unsigned char)setup->self.id[n];
    }
    return engine;
}

void redis_link_close(engine_t *engine)
{
    unsigned n;

    redis_socket_hang_up(&engine->sentinel.socket);
    for (n = 0; n < NODES; n++) {
        redis_node_flush(&engine->seats[n].node);
        redis_node_end(&engine->seats[n].node);
    }
}

/* ---- the loop ------------------------------------------------------------------- */

static void connect_node(engine_t *engine, unsigned number)
{
    char why[REDIS_SOCKET_WHY];
    const char *error = redis_node_connect(&engine->seats[number].node,
                                           engine->now, why);

    if (error) {
        give_up(engine, number, error);
    }
}

static void connect_first(engine_t *engine)
{
    const engine_address_t *address = engine->address;
    redis_node_t *first = &engine->seats[FIRST].node;
    redis_sentinel_state_t state;

    if (address->sentinel) {
        first->place.port = 0;
        state = redis_sentinel_ask(&engine->sentinel, address, engine->now);
        if (state == REDIS_SENTINEL_FAILS) {
            give_up(engine, FIRST, engine->sentinel.why);
        }
        if (state != REDIS_SENTINEL_KNOWS) {
            return;
        }
        first->place = engine->sentinel.master;
    }
    else if (!address->path) {
        first->place = address->places[engine->next];
        engine->next = (engine->next + 1) % address->count;
    }
    connect_node(engine, FIRST);
}

static void work_with(engine_t *engine, unsigned number)
{
    seat_t *seat = &engine->seats[number];
    char why[REDIS_SOCKET_WHY];

    if (!has_zones(engine, number)) {
        redis_node_end(&seat->node);
        if (number == FIRST) {
            seat->node.place.port = 0; /* it is at another place next time */
        }
    }
    else if (redis_node_is_connected(&seat->node)) {
        if (redis_node_work(&seat->node, engine->now, why)) {
            give_up(engine, number, why);
        }
    }
    else if (engine->now < seat->next_try) {
        return;
    }
    else if (number == FIRST) {
        connect_first(engine);
    }
    else if (seat->is_named) {
        connect_node(engine, number);
    }
    else {
        send_back(engine, number);
    }
}

void redis_link_work(engine_t *engine, int64_t now)
{
    unsigned number;
    uint32_t n;

    engine->now = now;
    /* The first one at last: others may send zones back to it. */
    for (number = NODES; number-- > 0;) {
        work_with(engine, number);
    }
    for (n = 0; n < engine->setup->count; n++) {
        zone_t *zone = &engine->zones[n];

        if (zone->next_try && now >= zone->next_try) {
            zone->next_try = 0;
            place(engine, n, zone->node);
        }
    }
}

unsigned redis_link_wait_for(engine_t *engine, struct pollfd *descriptors,
                             int64_t *wake_at)
{
    unsigned number, count = 0;
    uint32_t n;

    *wake_at = INT64_MAX;
    for (n = 0; n < engine->setup->count; n++) {
        int64_t next_try = engine->zones[n].next_try;

        if (next_try && next_try < *wake_at) {
            *wake_at = next_try;
        }
    }
    for (number = 0; number < NODES; number++) {
        const seat_t *seat = &engine->seats[number];

        if (!has_zones(engine, number)) {
            continue;
        }
        if (redis_node_is_connected(&seat->node)) {
            redis_node_wait_for(&seat->node, descriptors + count, wake_at);
            count += 2;
            continue;
        }
        if (number == FIRST && engine->sentinel.socket.context) {
            count += redis_sentinel_wait_for(&engine->sentinel,
                                             descriptors + count, wake_at);
        }
        else if (seat->next_try < *wake_at) {
            *wake_at = seat->next_try;
        }
    }
    return count;
}

bool redis_link_sync(engine_t *engine, uint32_t zone,
                     const law_fleet_sync_t *sync)
{
    const zone_t *asked = &engine->zones[zone];

    return redis_node_sync(&engine->seats[asked->node].node, zone, asked->key,
                           sync, engine->now);
}
