/* redis_link.c - an engine that is a Redis. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <apr_general.h>
#include <apr_strings.h>

#include "redis_address.h"
#include "redis_link.h"
#include "redis_sentinel.h"
#include "redis_words.h"

#define PAUSE_LEAST_USEC INT64_C(20000)
#define PAUSE_MOST_USEC INT64_C(1000000)
#define PAUSE_ZONE_USEC INT64_C(200000)

/* Interval of the checks that pushes still arrive. */
#define ECHO_USEC INT64_C(2000000)

#define RUN 64
#define SHA 48
#define WHY_ROOM 400

/* The reply that is expected next, in this order. */
typedef enum step_t {
    STEP_AUTH,
    STEP_SELECT,
    STEP_INFO,
    STEP_ROLE,
    STEP_SCRIPT,
    STEP_TIME,
    STEP_READY
} step_t;

typedef struct zone_t {
    const char *key;
    int64_t next_try; /* end of the pause after a rejected sync; 0: none */
} zone_t;

struct engine_t {
    const engine_setup_t *setup;
    const engine_address_t *address;
    zone_t *zones;
    redis_sentinel_t sentinel;
    redis_place_t place; /* of Redis; port 0: not known yet */
    redis_socket_t commands;
    redis_socket_t pushes;
    step_t step;
    bool is_subscribed;
    char run[RUN];
    char last_run[RUN]; /* of the previous connection; "": none yet */
    char sha[SHA];
    int64_t engine_msec; /* the engine's time ... */
    int64_t engine_at;   /* ... and when it was received */
    uint32_t *asked; /* ring of zones: Redis replies in the order of syncs */
    uint32_t first, count;
    int64_t deadline; /* of the next reply; 0: none is expected */
    int64_t echo_at;  /* last check that pushes arrive */
    int64_t echo_by;  /* deadline of the running check; 0: none */
    int64_t next_try; /* time to connect */
    int64_t pause;
    int64_t now; /* of this work() */
};

static bool is_connected(const engine_t *engine)
{
    return engine->commands.context != NULL;
}

static bool is_ready(const engine_t *engine)
{
    return is_connected(engine) && engine->step == STEP_READY
           && engine->is_subscribed;
}

/* ---- disconnect ---------------------------------------------------------------- */

static void disconnect(engine_t *engine)
{
    redis_socket_close(&engine->commands);
    redis_socket_close(&engine->pushes);
    engine->count = 0;
    engine->deadline = 0;
    engine->echo_at = engine->echo_by = 0;
}

/* @return the error, with the address of the master if a Sentinel has reported it: the
 * configuration does not have this address. */
static const char *describe(const engine_t *engine, const char *why,
                            char text[WHY_ROOM])
{
    if (!engine->address->sentinel || engine->place.port == 0) {
        return why;
    }
    snprintf(text, WHY_ROOM, "%s:%d: %s", engine->place.host,
             engine->place.port, why);
    return text;
}

/* Close both connections, and reconnect after a pause that grows. Half of the pause is
 * random, so that the servers do not all reconnect at the same moment. */
static void give_up(engine_t *engine, const char *why)
{
    const engine_callbacks_t *callbacks = &engine->setup->callbacks;
    char text[WHY_ROOM];
    uint32_t n, chance = 0;

    disconnect(engine);
    apr_generate_random_bytes((unsigned char *)&chance, sizeof(chance));
    engine->next_try = engine->now + engine->pause / 2
                       + chance % (engine->pause / 2 + 1);
    engine->pause = engine->pause * 2 < PAUSE_MOST_USEC ? engine->pause * 2
                                                        : PAUSE_MOST_USEC;
    for (n = 0; n < engine->setup->count; n++) {
        engine->zones[n].next_try = 0;
        callbacks->parted(n);
    }
    callbacks->lost(describe(engine, why, text));
}

/* ---- connect ------------------------------------------------------------------- */

/* Start both connections, and queue the commands of all steps.
 * @return an error, or NULL. */
static const char *start_to_connect(engine_t *engine)
{
    const engine_address_t *address = engine->address;
    const char *error = redis_socket_connect(&engine->commands, address,
                                             &engine->place);
    redisContext *commands, *pushes;
    bool has_login;

    if (!error) {
        error = redis_socket_connect(&engine->pushes, address, &engine->place);
    }
    if (error) {
        return error;
    }
    commands = engine->commands.context;
    pushes = engine->pushes.context;
    has_login = redis_login_queue_auth(commands, &address->login);
    if (address->database) {
        redisAppendCommand(commands, "SELECT %s", address->database);
    }
    redisAppendCommand(commands, "INFO server");
    redisAppendCommand(commands, "ROLE");
    redisAppendCommand(commands, "SCRIPT LOAD %s", redis_words_script);
    redisAppendCommand(commands, "TIME");
    redis_login_queue_auth(pushes, &address->login);
    redisAppendCommand(pushes, "SUBSCRIBE adm:%s", engine->setup->self.id);
    engine->step = has_login           ? STEP_AUTH
                   : address->database ? STEP_SELECT
                                       : STEP_INFO;
    engine->is_subscribed = false;
    engine->deadline = engine->now + address->timeout_usec;
    return NULL;
}

static void connect_to_place(engine_t *engine)
{
    char why[REDIS_SOCKET_WHY];
    const char *error = start_to_connect(engine);

    if (error) {
        /* Copied, because closing the socket frees it. */
        snprintf(why, sizeof(why), "%s", error);
        give_up(engine, why);
    }
}

/* Connect. Sentinels are asked for the master each time, because it can change. */
static void find_and_connect(engine_t *engine)
{
    const engine_address_t *address = engine->address;
    redis_sentinel_state_t state;

    if (address->sentinel) {
        engine->place.port = 0;
        state = redis_sentinel_ask(&engine->sentinel, address, engine->now);
        if (state == REDIS_SENTINEL_FAILED) {
            give_up(engine, engine->sentinel.why);
        }
        if (state != REDIS_SENTINEL_FOUND) {
            return;
        }
        engine->place = engine->sentinel.master;
    }
    else if (!address->path) {
        engine->place = address->places[0];
    }
    connect_to_place(engine);
}

static bool is_master(const redisReply *reply)
{
    return reply->type == REDIS_REPLY_ARRAY && reply->elements > 0
           && reply->element[0]->type == REDIS_REPLY_STRING
           && strcmp(reply->element[0]->str, "master") == 0;
}

static bool read_time(const redisReply *reply, int64_t *msec)
{
    int64_t seconds;

    if (reply->type != REDIS_REPLY_ARRAY || reply->elements != 2
        || reply->element[0]->type != REDIS_REPLY_STRING
        || reply->element[1]->type != REDIS_REPLY_STRING) {
        return false;
    }
    seconds = strtoll(reply->element[0]->str, NULL, 10);
    *msec = seconds * 1000 + strtoll(reply->element[1]->str, NULL, 10) / 1000;
    return seconds > 0 && seconds < INT64_MAX / 1000000000;
}

/* Join all zones once both connections are ready. */
static void join_if_ready(engine_t *engine)
{
    const engine_callbacks_t *callbacks = &engine->setup->callbacks;
    bool is_new = strcmp(engine->last_run, engine->run) != 0;
    uint32_t n;

    if (!is_ready(engine)) {
        return;
    }
    engine->deadline = 0;
    for (n = 0; n < engine->setup->count; n++) {
        callbacks->joined(n, is_new, engine->engine_msec, engine->engine_at);
    }
    callbacks->connected(is_new && engine->last_run[0]);
    memcpy(engine->last_run, engine->run, RUN);
}

/* Take the reply to a step. @return an error that ends the connections, or NULL. */
static const char *take_step(engine_t *engine, const redisReply *reply)
{
    if (reply->type == REDIS_REPLY_ERROR) {
        return reply->str;
    }
    switch (engine->step) {
    case STEP_AUTH:
        engine->step = engine->address->database ? STEP_SELECT : STEP_INFO;
        return NULL;
    case STEP_INFO:
        engine->step++;
        return redis_words_read_run(reply, engine->run, RUN);
    case STEP_ROLE:
        engine->step++;
        return is_master(reply) ? NULL : "it is a replica";
    case STEP_SCRIPT:
        engine->step++;
        if (reply->type != REDIS_REPLY_STRING || reply->len >= SHA) {
            return "it does not accept the script";
        }
        snprintf(engine->sha, SHA, "%s", reply->str);
        return NULL;
    case STEP_TIME:
        if (!read_time(reply, &engine->engine_msec)) {
            return "it sent an invalid time";
        }
        engine->engine_at = engine->now;
        engine->step = STEP_READY;
        join_if_ready(engine);
        return NULL;
    default:
        engine->step++;
        return NULL;
    }
}

/* ---- replies and pushes -------------------------------------------------------- */

/* Take the zone to which the next reply belongs from the ring. */
static uint32_t next_asked(engine_t *engine)
{
    uint32_t zone = engine->asked[engine->first];

    engine->first = (engine->first + 1) % (engine->setup->count + 1);
    engine->count--;
    engine->deadline = engine->count
                           ? engine->now + engine->address->timeout_usec
                           : 0;
    return zone;
}

/* Pause one zone; the connection remains for the others. */
static void refuse(engine_t *engine, uint32_t n, const char *why)
{
    const engine_callbacks_t *callbacks = &engine->setup->callbacks;
    char text[WHY_ROOM];

    engine->zones[n].next_try = engine->now + PAUSE_ZONE_USEC;
    callbacks->parted(n);
    callbacks->refused(n, describe(engine, why, text));
}

/* Take the reply to a sync. An error of one key pauses the zone of that key only. */
static const char *take_answer(engine_t *engine, const redisReply *reply)
{
    const engine_callbacks_t *callbacks = &engine->setup->callbacks;
    law_fleet_reply_t parsed;
    law_fleet_who_t who;

    if (reply->type == REDIS_REPLY_ERROR) {
        if (engine->count == 0 || !redis_words_is_key_error(reply->str)) {
            return reply->str;
        }
        refuse(engine, next_asked(engine), reply->str);
        return NULL;
    }
    if (engine->count == 0 || !redis_words_read_reply(reply, &parsed, &who)) {
        return "it sent an unexpected reply";
    }
    engine->engine_msec = parsed.engine_msec;
    engine->engine_at = engine->now;
    engine->pause = PAUSE_LEAST_USEC;
    callbacks->replied(next_asked(engine), &parsed, &who, engine->now);
    return NULL;
}

static const char *take(void *data, const redisReply *reply)
{
    engine_t *engine = data;

    return engine->step == STEP_READY ? take_answer(engine, reply)
                                      : take_step(engine, reply);
}

/* Deliver a push to each zone with its key. Invalid pushes, and pushes of another run of
 * the engine, are ignored. */
static void deliver_push(engine_t *engine, const char *text)
{
    const engine_callbacks_t *callbacks = &engine->setup->callbacks;
    law_fleet_push_t push;
    size_t length;
    uint32_t n;

    if (!redis_words_read_push(text, engine->run, &length, &push)) {
        return;
    }
    for (n = 0; n < engine->setup->count; n++) {
        const char *key = engine->zones[n].key;

        if (strlen(key) == length && memcmp(key, text, length) == 0) {
            callbacks->pushed(n, &push, engine->now);
        }
    }
}

/* Take a push, or the confirmation of a SUBSCRIBE, see ask_for_echo(). */
static const char *take_push(void *data, const redisReply *reply)
{
    engine_t *engine = data;

    if (reply->type == REDIS_REPLY_ERROR) {
        return reply->str;
    }
    if (reply->type == REDIS_REPLY_STATUS) {
        return NULL; /* AUTH */
    }
    if (reply->type != REDIS_REPLY_ARRAY || reply->elements != 3
        || reply->element[0]->type != REDIS_REPLY_STRING) {
        return "it sent an unexpected push";
    }
    if (strcmp(reply->element[0]->str, "subscribe") == 0) {
        if (!engine->is_subscribed) {
            engine->is_subscribed = true;
            join_if_ready(engine);
        }
        engine->echo_at = engine->now;
        engine->echo_by = 0;
    }
    else if (reply->element[2]->type == REDIS_REPLY_STRING
             && is_ready(engine)) {
        deliver_push(engine, reply->element[2]->str);
    }
    return NULL;
}

/* ---- open and close ------------------------------------------------------------ */

/* @return the zone's key. A push starts with the key, which ends at the brace, so the
 * name must contain no braces or spaces. */
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

static engine_t *open_link(apr_pool_t *p, const engine_setup_t *setup)
{
    engine_t *engine = apr_pcalloc(p, sizeof(*engine));
    uint32_t n;

    engine->setup = setup;
    engine->address = setup->address;
    engine->pause = PAUSE_LEAST_USEC;
    engine->asked = apr_pcalloc(p, (setup->count + 1) * sizeof(uint32_t));
    engine->zones = apr_pcalloc(p, (setup->count + 1) * sizeof(zone_t));
    for (n = 0; n < setup->count; n++) {
        engine->zones[n].key = key_of(p, setup->zones[n]);
    }
    return engine;
}

static void close_link(engine_t *engine)
{
    int is_written = 0; /* required by hiredis */

    redis_socket_close(&engine->sentinel.socket);
    /* The last syncs tell the engine that this server stops. */
    if (is_ready(engine)) {
        redisBufferWrite(engine->commands.context, &is_written);
    }
    disconnect(engine);
}

/* ---- the loop ------------------------------------------------------------------ */

/* Check that pushes arrive: a connection that only receives does not notice that it is
 * lost. A repeated SUBSCRIBE is confirmed, and needs no other permission. */
static void ask_for_echo(engine_t *engine)
{
    redisContext *context = engine->pushes.context;
    int is_written = 0; /* required by hiredis */

    if (!is_ready(engine) || engine->echo_by
        || engine->now < engine->echo_at + ECHO_USEC
        || redisAppendCommand(context, "SUBSCRIBE adm:%s",
                              engine->setup->self.id)
               != REDIS_OK) {
        return;
    }
    engine->echo_by = engine->now + engine->address->timeout_usec;
    redisBufferWrite(context, &is_written);
}

static void read_and_write(engine_t *engine)
{
    char why[REDIS_SOCKET_WHY];
    const char *error = redis_socket_transfer(&engine->commands, take, engine,
                                              why);

    if (!error) {
        error = redis_socket_transfer(&engine->pushes, take_push, engine, why);
    }
    if (!error && engine->deadline && engine->now >= engine->deadline) {
        error = is_ready(engine) ? "it does not answer in time"
                                 : "it cannot be connected in time";
    }
    if (!error && engine->echo_by && engine->now >= engine->echo_by) {
        error = "its pushes do not arrive any more";
    }
    if (!error) {
        ask_for_echo(engine);
        return;
    }
    if (error != why) {
        snprintf(why, sizeof(why), "%s", error);
    }
    give_up(engine, why);
}

/* Let zones sync again after their pause. */
static void join_again(engine_t *engine)
{
    const engine_callbacks_t *callbacks = &engine->setup->callbacks;
    uint32_t n;

    for (n = 0; n < engine->setup->count; n++) {
        zone_t *zone = &engine->zones[n];

        if (zone->next_try && engine->now >= zone->next_try) {
            zone->next_try = 0;
            callbacks->joined(n, false, engine->engine_msec, engine->engine_at);
        }
    }
}

static void work(engine_t *engine, int64_t now)
{
    engine->now = now;
    if (is_connected(engine)) {
        read_and_write(engine);
    }
    else if (now >= engine->next_try) {
        find_and_connect(engine);
    }
    join_again(engine);
}

static void no_later_than(int64_t at, int64_t *wake_at)
{
    if (at && at < *wake_at) {
        *wake_at = at;
    }
}

static unsigned prepare_poll(engine_t *engine, struct pollfd *descriptors,
                             int64_t *wake_at)
{
    uint32_t n;

    *wake_at = INT64_MAX;
    if (!is_connected(engine)) {
        if (engine->sentinel.socket.context) {
            *wake_at = engine->sentinel.deadline;
            *descriptors = redis_socket_pollfd(&engine->sentinel.socket);
            return 1;
        }
        *wake_at = engine->next_try;
        return 0;
    }
    for (n = 0; n < engine->setup->count; n++) {
        no_later_than(engine->zones[n].next_try, wake_at);
    }
    no_later_than(engine->deadline, wake_at);
    if (is_ready(engine)) {
        no_later_than(engine->echo_by ? engine->echo_by
                                      : engine->echo_at + ECHO_USEC,
                      wake_at);
    }
    descriptors[0] = redis_socket_pollfd(&engine->commands);
    descriptors[1] = redis_socket_pollfd(&engine->pushes);
    return 2;
}

static bool sync_zone(engine_t *engine, uint32_t zone,
                      const law_fleet_sync_t *sync)
{
    redisContext *context = engine->commands.context;
    int is_written = 0; /* required by hiredis */

    if (!is_ready(engine) || engine->count >= engine->setup->count
        || redis_words_queue_sync(context, engine->sha, engine->zones[zone].key,
                                  engine->run, &engine->setup->self, sync)
               != 0) {
        return false;
    }
    engine->asked[(engine->first + engine->count)
                  % (engine->setup->count + 1)] = zone;
    engine->count++;
    if (!engine->deadline) {
        engine->deadline = engine->now + engine->address->timeout_usec;
    }
    /* work() writes the rest, and detects errors. */
    redisBufferWrite(context, &is_written);
    return true;
}

static const char *shown(const engine_address_t *address)
{
    return address->shown;
}

const engine_provider_t redis_link_provider = { .parse = redis_address_parse,
                                                .shown = shown,
                                                .open = open_link,
                                                .prepare_poll = prepare_poll,
                                                .work = work,
                                                .sync = sync_zone,
                                                .close = close_link };
