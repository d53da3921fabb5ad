/* redis_node.c - one Redis: how it is entered, syncs and what it pushes.
 * Called by redis_link.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "redis_node.h"
#include "redis_words.h"

/* Between two proofs that pushes still come. */
#define ECHO_USEC INT64_C(2000000)

void redis_node_begin(redis_node_t *node, apr_pool_t *p,
                      const engine_setup_t *setup,
                      const redis_node_ears_t *ears)
{
    node->setup = setup;
    node->ears = *ears;
    node->asked = apr_pcalloc(p, (setup->count + 1) * sizeof(uint32_t));
}

void redis_node_end(redis_node_t *node)
{
    redis_socket_hang_up(&node->commands);
    redis_socket_hang_up(&node->pushes);
    node->count = 0;
    node->deadline = 0;
    node->echo_at = node->echo_by = 0;
}

bool redis_node_is_connected(const redis_node_t *node)
{
    return node->commands.context != NULL;
}

bool redis_node_is_ready(const redis_node_t *node)
{
    return redis_node_is_connected(node) && node->step == REDIS_STEP_READY
           && node->is_subscribed;
}

void redis_node_flush(redis_node_t *node)
{
    int is_done = 0;

    if (redis_node_is_ready(node)) {
        redisBufferWrite(node->commands.context, &is_done);
    }
}

/* ---- enter ------------------------------------------------------------------ */

const char *redis_node_connect(redis_node_t *node, int64_t now,
                               char why[REDIS_SOCKET_WHY])
{
    const engine_address_t *address = node->setup->address;
    redisContext *commands, *pushes;
    const char *error = redis_socket_dial(&node->commands, address,
                                          &node->place);
    bool has_login;

    if (!error) {
        error = redis_socket_dial(&node->pushes, address, &node->place);
    }
    if (error) {
        snprintf(why, REDIS_SOCKET_WHY, "%s", error);
        redis_node_end(node);
        return why;
    }
    commands = node->commands.context;
    pushes = node->pushes.context;
    has_login = redis_login_ask(commands, &address->login);
    if (address->database) {
        redisAppendCommand(commands, "SELECT %s", address->database);
    }
    redisAppendCommand(commands, "INFO server");
    redisAppendCommand(commands, "ROLE");
    redisAppendCommand(commands, "SCRIPT LOAD %s", redis_words_script);
    redisAppendCommand(commands, "TIME");
    redis_login_ask(pushes, &address->login);
    redisAppendCommand(pushes, "SUBSCRIBE adm:%s", node->setup->self.id);
    node->step = has_login           ? REDIS_STEP_AUTH
                 : address->database ? REDIS_STEP_SELECT
                                     : REDIS_STEP_INFO;
    node->is_subscribed = false;
    node->deadline = now + address->timeout_usec;
    return NULL;
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

/* Both connections can be used, as soon as that is so. */
static void look_whether_ready(redis_node_t *node)
{
    if (redis_node_is_ready(node)) {
        node->deadline = 0;
        node->ears.ready(node->ears.data, node);
    }
}

/* Hosts that are no nodes of one Cluster could be several engines, each with the whole
 * limit. */
static const char *take_run(redis_node_t *node, const redisReply *reply)
{
    const engine_address_t *address = node->setup->address;
    const char *error = redis_words_run(reply, node->run, REDIS_NODE_RUN,
                                        &node->is_of_cluster);

    return error ? error
           : !node->is_of_cluster && !address->sentinel && address->count > 1
               ? "it is no node of a Cluster, as one of several hosts has to be"
               : NULL;
}

/* @return why this engine is of no use; NULL: go on. */
static const char *take_step(redis_node_t *node, const redisReply *reply)
{
    if (reply->type == REDIS_REPLY_ERROR) {
        return reply->str;
    }
    switch (node->step) {
    case REDIS_STEP_AUTH:
        node->step = node->setup->address->database ? REDIS_STEP_SELECT
                                                    : REDIS_STEP_INFO;
        return NULL;
    case REDIS_STEP_INFO:
        node->step++;
        return take_run(node, reply);
    case REDIS_STEP_ROLE:
        node->step++;
        /* In a Cluster it says where the master is, when it is asked for more. */
        return node->is_of_cluster || is_master(reply) ? NULL
                                                       : "it is a replica";
    case REDIS_STEP_SCRIPT:
        node->step++;
        if (reply->type != REDIS_REPLY_STRING || reply->len >= REDIS_NODE_SHA) {
            return "it takes no script";
        }
        snprintf(node->sha, REDIS_NODE_SHA, "%s", reply->str);
        return NULL;
    case REDIS_STEP_TIME:
        if (!read_time(reply, &node->engine_msec)) {
            return "it does not know the time";
        }
        node->engine_at = node->now;
        node->step = REDIS_STEP_READY;
        look_whether_ready(node);
        return NULL;
    default:
        node->step++;
        return NULL;
    }
}

/* ---- what comes --------------------------------------------------------------- */

static uint32_t next_asked(redis_node_t *node)
{
    uint32_t zone = node->asked[node->first];

    node->first = (node->first + 1) % (node->setup->count + 1);
    node->count--;
    node->deadline = node->count
                         ? node->now + node->setup->address->timeout_usec
                         : 0;
    return zone;
}

static const char *take_error(redis_node_t *node, const char *error)
{
    redis_place_t place;

    if (node->count > 0 && redis_words_refused(error)) {
        node->ears.refused(node->ears.data, node, next_asked(node), error);
        return NULL;
    }
    if (!node->is_of_cluster || node->count == 0
        || !redis_words_moved(error, &node->place, &place)) {
        return error;
    }
    return place.port == 0
               ? "where a zone is, it does not say as an address in numbers "
                 "and a port"
               : node->ears.moved(node->ears.data, node, next_asked(node),
                                  &place);
}

static const char *take_answer(redis_node_t *node, const redisReply *reply)
{
    law_fleet_reply_t answer;
    law_fleet_who_t who;

    if (reply->type == REDIS_REPLY_ERROR) {
        return take_error(node, reply->str);
    }
    if (node->count == 0 || !redis_words_reply(reply, &answer, &who)) {
        return "it answers something else";
    }
    node->engine_msec = answer.engine_msec;
    node->engine_at = node->now;
    node->ears.replied(node->ears.data, node, next_asked(node), &answer, &who);
    return NULL;
}

static const char *take(void *data, const redisReply *reply)
{
    redis_node_t *node = data;

    return node->step == REDIS_STEP_READY ? take_answer(node, reply)
                                          : take_step(node, reply);
}

static const char *take_push(void *data, const redisReply *reply)
{
    redis_node_t *node = data;
    law_fleet_push_t push;
    size_t length;

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
        if (!node->is_subscribed) {
            node->is_subscribed = true;
            look_whether_ready(node);
        }
        node->echo_at = node->now;
        node->echo_by = 0;
    }
    else if (reply->element[2]->type == REDIS_REPLY_STRING
             && redis_node_is_ready(node)
             && redis_words_push(reply->element[2]->str, node->run, &length,
                                 &push)) {
        node->ears.pushed(node->ears.data, node, reply->element[2]->str, length,
                          &push);
    }
    return NULL;
}

/* ---- the loop ------------------------------------------------------------------- */

/* A connection that only listens never hears that it is lost. Who subscribes once more is
 * told so, and needs no other right. */
static void ask_for_echo(redis_node_t *node)
{
    redisContext *context = node->pushes.context;
    int is_done = 0;

    if (!redis_node_is_ready(node) || node->echo_by
        || node->now < node->echo_at + ECHO_USEC
        || redisAppendCommand(context, "SUBSCRIBE adm:%s", node->setup->self.id)
               != REDIS_OK) {
        return;
    }
    node->echo_by = node->now + node->setup->address->timeout_usec;
    redisBufferWrite(context, &is_done);
}

const char *redis_node_work(redis_node_t *node, int64_t now,
                            char why[REDIS_SOCKET_WHY])
{
    const char *error;

    node->now = now;
    error = redis_socket_move(&node->commands, take, node, why);
    if (!error) {
        error = redis_socket_move(&node->pushes, take_push, node, why);
    }
    if (!error && node->deadline && now >= node->deadline) {
        error = redis_node_is_ready(node) ? "it does not answer in time"
                                          : "it cannot be connected in time";
    }
    if (!error && node->echo_by && now >= node->echo_by) {
        error = "it does not push any more";
    }
    if (!error) {
        ask_for_echo(node);
    }
    if (error && error != why) {
        snprintf(why, REDIS_SOCKET_WHY, "%s", error);
    }
    return error ? why : NULL;
}

void redis_node_wait_for(const redis_node_t *node, struct pollfd *descriptors,
                         int64_t *wake_at)
{
    if (node->deadline && node->deadline < *wake_at) {
        *wake_at = node->deadline;
    }
    if (redis_node_is_ready(node)) {
        int64_t echo = node->echo_by ? node->echo_by
                                     : node->echo_at + ECHO_USEC;

        *wake_at = echo < *wake_at ? echo : *wake_at;
    }
    descriptors[0] = redis_socket_wait_for(&node->commands);
    descriptors[1] = redis_socket_wait_for(&node->pushes);
}

bool redis_node_sync(redis_node_t *node, uint32_t zone, const char *key,
                     const law_fleet_sync_t *sync, int64_t now)
{
    redisContext *context = node->commands.context;
    int is_done = 0;

    if (!redis_node_is_ready(node) || node->count >= node->setup->count
        || redis_words_sync(context, node->sha, key, node->run,
                            &node->setup->self, sync)
               != 0) {
        return false;
    }
    node->asked[(node->first + node->count) % (node->setup->count + 1)] = zone;
    node->count++;
    if (!node->deadline) {
        node->deadline = now + node->setup->address->timeout_usec;
    }
    /* What is not written now is when it can be; an error is seen there, too. */
    redisBufferWrite(context, &is_done);
    return true;
}
