/* redis_link.c - the connections to Redis, and what goes over them.
 * Called by mod_admission_redis.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <apr_strings.h>
#include <hiredis/hiredis.h>

#include "redis_address.h"
#include "redis_link.h"
#include "redis_words.h"

#define PAUSE_LEAST_USEC INT64_C(20000)
#define PAUSE_MOST_USEC INT64_C(1000000)

/* No answer is nearly so long. */
#define LONGEST_ANSWER (64 * 1024)

#define RUN_ROOM 64
#define SHA_ROOM 48

/* What is asked for first, in this order. */
typedef enum step_t {
    STEP_AUTH,
    STEP_SELECT,
    STEP_INFO,
    STEP_ROLE,
    STEP_SCRIPT,
    STEP_TIME,
    STEP_READY
} step_t;

struct engine_t {
    const engine_setup_t *setup;
    const engine_address_t *address;
    const char **keys; /* of the zones */
    redisContext *commands;
    redisContext *pushes; /* NULL: none */
    step_t step;          /* whose answer comes next */
    bool is_subscribed;
    char run[RUN_ROOM]; /* of the connection that was ready last */
    char new_run[RUN_ROOM];
    char sha[SHA_ROOM];
    uint32_t *asked; /* zones whose answers come, in order: a ring */
    uint32_t first, count;
    int64_t deadline; /* of the next answer; 0: none is awaited */
    int64_t next_try; /* to connect */
    int64_t pause;
    int64_t now; /* of this work() */
    unsigned chance;
};

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
    uint32_t n;

    engine->setup = setup;
    engine->address = setup->address;
    engine->keys = apr_pcalloc(p, (setup->count + 1) * sizeof(char *));
    engine->asked = apr_pcalloc(p, (setup->count + 1) * sizeof(uint32_t));
    engine->pause = PAUSE_LEAST_USEC;
    for (n = 0; n < setup->count; n++) {
        engine->keys[n] = key_of(p, setup->zones[n]);
    }
    for (n = 0; setup->self.id[n]; n++) {
        engine->chance = engine->chance * 31 + (unsigned char)setup->self.id[n];
    }
    return engine;
}

static void disconnect(engine_t *engine)
{
    if (engine->commands) {
        redisFree(engine->commands);
    }
    if (engine->pushes) {
        redisFree(engine->pushes);
    }
    engine->commands = engine->pushes = NULL;
    engine->count = 0;
    engine->deadline = 0;
}

/* Both connections end, and are made anew after a pause that grows. */
static void give_up(engine_t *engine, const char *why)
{
    char text[200];

    snprintf(text, sizeof(text), "%s", why); /* it may be of a connection */
    disconnect(engine);
    engine->chance = engine->chance * 1103515245U + 12345U;
    engine->next_try = engine->now + engine->pause / 2
                       + (int64_t)(engine->chance >> 8)
                             % (engine->pause / 2 + 1);
    engine->pause = engine->pause * 2 < PAUSE_MOST_USEC ? engine->pause * 2
                                                        : PAUSE_MOST_USEC;
    engine->setup->ears.lost(engine->setup->ears.data, text);
}

void redis_link_close(engine_t *engine)
{
    int is_done = 0;

    if (engine->commands && engine->step == STEP_READY) {
        redisBufferWrite(engine->commands, &is_done);
    }
    disconnect(engine);
}

/* ---- connect ---------------------------------------------------------------- */

/* No answer has nearly so many parts; more would be allocated at once, for whoever
 * says that they come. */
#define MOST_PARTS 256

/* hiredis counts parts in another type since 1.0. */
#if HIREDIS_MAJOR >= 1
typedef size_t parts_t;
#else
typedef int parts_t;
#endif

/* What hiredis makes of answers, but for those that are too large. */
static redisReplyObjectFunctions bounded;
static void *(*make_array)(const redisReadTask *task, parts_t count);

static void *make_small_array(const redisReadTask *task, parts_t count)
{
    return count <= MOST_PARTS ? make_array(task, count) : NULL;
}

static void bound_answers(redisReader *reader)
{
    reader->maxbuf = 0; /* what is empty is freed */
    if (!make_array) {
        bounded = *reader->fn;
        make_array = bounded.createArray;
        bounded.createArray = make_small_array;
    }
    reader->fn = &bounded;
}

static redisContext *dial(const engine_address_t *address)
{
    redisContext *context = address->path
                                ? redisConnectUnixNonBlock(address->path)
                                : redisConnectNonBlock(address->host,
                                                       address->port);

    if (context && !context->err) {
        fcntl(context->fd, F_SETFD, FD_CLOEXEC);
        if (context->reader) {
            bound_answers(context->reader);
        }
    }
    return context;
}

static int ask_to_enter(redisContext *context, const engine_address_t *address)
{
    if (address->user) {
        return redisAppendCommand(context, "AUTH %s %s", address->user,
                                  address->password);
    }
    return address->password
               ? redisAppendCommand(context, "AUTH %s", address->password)
               : REDIS_OK;
}

static void connect_both(engine_t *engine)
{
    const engine_address_t *address = engine->address;
    redisContext *commands = dial(address);
    redisContext *pushes = dial(address);

    engine->commands = commands;
    engine->pushes = pushes;
    if (!commands || !pushes || commands->err || pushes->err) {
        give_up(engine, commands && commands->err ? commands->errstr
                        : pushes && pushes->err   ? pushes->errstr
                                                  : "no memory");
        return;
    }
    ask_to_enter(commands, address);
    if (address->database) {
        redisAppendCommand(commands, "SELECT %s", address->database);
    }
    redisAppendCommand(commands, "INFO server");
    redisAppendCommand(commands, "ROLE");
    redisAppendCommand(commands, "SCRIPT LOAD %s", redis_words_script);
    redisAppendCommand(commands, "TIME");
    ask_to_enter(pushes, address);
    redisAppendCommand(pushes, "SUBSCRIBE adm:%s", engine->setup->self.id);
    engine->step = address->password   ? STEP_AUTH
                   : address->database ? STEP_SELECT
                                       : STEP_INFO;
    engine->is_subscribed = false;
    engine->deadline = engine->now + engine->address->timeout_usec;
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

static void ready(engine_t *engine, int64_t engine_msec)
{
    bool is_new = strcmp(engine->run, engine->new_run) != 0;

    memcpy(engine->run, engine->new_run, RUN_ROOM);
    engine->step = STEP_READY;
    engine->deadline = engine->is_subscribed ? 0 : engine->deadline;
    engine->setup->ears.connected(engine->setup->ears.data, is_new, engine_msec,
                                  engine->now);
}

/* @return why this engine is of no use; NULL: go on. */
static const char *take_step(engine_t *engine, const redisReply *reply)
{
    int64_t msec;

    if (reply->type == REDIS_REPLY_ERROR) {
        return reply->str;
    }
    switch (engine->step) {
    case STEP_AUTH:
        engine->step = engine->address->database ? STEP_SELECT : STEP_INFO;
        return NULL;
    case STEP_INFO:
        engine->step++;
        return redis_words_run(reply, engine->new_run, RUN_ROOM);
    case STEP_ROLE:
        engine->step++;
        return is_master(reply) ? NULL : "it is a replica";
    case STEP_SCRIPT:
        engine->step++;
        if (reply->type != REDIS_REPLY_STRING || reply->len >= SHA_ROOM) {
            return "it takes no script";
        }
        snprintf(engine->sha, SHA_ROOM, "%s", reply->str);
        return NULL;
    case STEP_TIME:
        if (!read_time(reply, &msec)) {
            return "it does not know the time";
        }
        ready(engine, msec);
        return NULL;
    default:
        engine->step++;
        return NULL;
    }
}

/* ---- what comes --------------------------------------------------------------- */

static const char *take_answer(engine_t *engine, const redisReply *reply)
{
    law_fleet_reply_t answer;
    law_fleet_who_t who;
    uint32_t zone;

    if (reply->type == REDIS_REPLY_ERROR) {
        return reply->str;
    }
    if (engine->count == 0 || !redis_words_reply(reply, &answer, &who)) {
        return "it answers something else";
    }
    zone = engine->asked[engine->first];
    engine->first = (engine->first + 1) % (engine->setup->count + 1);
    engine->count--;
    engine->deadline = engine->count
                           ? engine->now + engine->address->timeout_usec
                           : 0;
    engine->pause = PAUSE_LEAST_USEC;
    engine->setup->ears.replied(engine->setup->ears.data, zone, &answer, &who,
                                engine->now);
    return NULL;
}

static void take_message(engine_t *engine, const char *text)
{
    law_fleet_push_t push;
    size_t length;
    uint32_t n;

    if (engine->step != STEP_READY
        || !redis_words_push(text, engine->run, &length, &push)) {
        return;
    }
    for (n = 0; n < engine->setup->count; n++) {
        if (strlen(engine->keys[n]) == length
            && memcmp(engine->keys[n], text, length) == 0) {
            engine->setup->ears.pushed(engine->setup->ears.data, n, &push,
                                       engine->now);
        }
    }
}

static const char *take_push(engine_t *engine, const redisReply *reply)
{
    if (reply->type == REDIS_REPLY_ERROR) {
        return reply->str;
    }
    if (reply->type == REDIS_REPLY_STATUS) {
        return NULL; /* AUTH */
    }
    if (reply->type != REDIS_REPLY_ARRAY || reply->elements != 3
        || reply->element[0]->type != REDIS_REPLY_STRING) {
        return "it pushes something else";
    }
    if (strcmp(reply->element[0]->str, "subscribe") == 0) {
        engine->is_subscribed = true;
        if (engine->step == STEP_READY && engine->count == 0) {
            engine->deadline = 0;
        }
    }
    else if (reply->element[2]->type == REDIS_REPLY_STRING) {
        take_message(engine, reply->element[2]->str);
    }
    return NULL;
}

/* @return why the connections have to end; NULL: they go on. */
static const char *read_from(engine_t *engine, redisContext *context, char *why,
                             size_t room)
{
    const char *error = NULL;
    void *reply = NULL;

    if (redisBufferRead(context) != REDIS_OK) {
        return context->errstr;
    }
    while (!error && redisReaderGetReply(context->reader, &reply) == REDIS_OK
           && reply) {
        error = context == engine->pushes    ? take_push(engine, reply)
                : engine->step != STEP_READY ? take_step(engine, reply)
                                             : take_answer(engine, reply);
        if (error) {
            snprintf(why, room, "%s", error); /* it may be of the reply */
            error = why;
        }
        freeReplyObject(reply);
        reply = NULL;
    }
    if (!error && context->reader->err) {
        return context->reader->errstr;
    }
    if (!error
        && context->reader->len - context->reader->pos > LONGEST_ANSWER) {
        return "its answer is too large";
    }
    return error;
}

/* ---- the loop ------------------------------------------------------------------- */

static short events_of(const redisContext *context)
{
    return (short)(POLLIN | (context->obuf && *context->obuf ? POLLOUT : 0));
}

unsigned redis_link_wait_for(engine_t *engine, struct pollfd *descriptors,
                             int64_t *wake_at)
{
    if (!engine->commands) {
        *wake_at = engine->next_try;
        return 0;
    }
    *wake_at = engine->deadline ? engine->deadline : INT64_MAX;
    descriptors[0] = (struct pollfd){ .fd = engine->commands->fd,
                                      .events = events_of(engine->commands) };
    descriptors[1] = (struct pollfd){ .fd = engine->pushes->fd,
                                      .events = events_of(engine->pushes) };
    return 2;
}

static const char *move(engine_t *engine, redisContext *context, char *why,
                        size_t room)
{
    struct pollfd now = { .fd = context->fd, .events = events_of(context) };
    int is_done = 0;

    if (poll(&now, 1, 0) <= 0) {
        return NULL;
    }
    if (now.revents & POLLOUT
        && redisBufferWrite(context, &is_done) != REDIS_OK) {
        return context->errstr;
    }
    return now.revents & ~POLLOUT ? read_from(engine, context, why, room)
                                  : NULL;
}

void redis_link_work(engine_t *engine, int64_t now)
{
    char why[200];
    const char *error;

    engine->now = now;
    if (!engine->commands && now >= engine->next_try) {
        connect_both(engine);
    }
    if (!engine->commands) {
        return;
    }
    error = move(engine, engine->commands, why, sizeof(why));
    if (!error) {
        error = move(engine, engine->pushes, why, sizeof(why));
    }
    if (!error && engine->deadline && now >= engine->deadline) {
        error = engine->step == STEP_READY ? "it does not answer in time"
                                           : "it cannot be connected in time";
    }
    if (error) {
        give_up(engine, error);
    }
}

bool redis_link_sync(engine_t *engine, uint32_t zone,
                     const law_fleet_sync_t *sync)
{
    int is_done = 0;

    if (!engine->commands || engine->step != STEP_READY
        || !engine->is_subscribed || engine->count >= engine->setup->count
        || redis_words_sync(engine->commands, engine->sha, engine->keys[zone],
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
    /* What is not written now is when it can be; an error is seen there, too. */
    redisBufferWrite(engine->commands, &is_done);
    return true;
}
