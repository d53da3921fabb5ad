/* adversary_engine.c - the engine of adversary.c: the real script in a real Redis, but
 * for its clock.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adversary.h"
#include "fleet/redis_words.h"

int run;
unsigned deaths;
box_t replies, pushes;

static redisContext *engine, *ears;
static char sha[64];
static char *snapshot;
static size_t snapshot_length;

static redisReply *must(void *reply)
{
    if (!reply || ((redisReply *)reply)->type == REDIS_REPLY_ERROR) {
        die(reply ? ((redisReply *)reply)->str : "the engine is gone");
    }
    return reply;
}

static void command(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    freeReplyObject(must(redisvCommand(engine, format, args)));
    va_end(args);
}

static char *replace(char *text, const char *from, const char *to)
{
    char *at = strstr(text, from);
    char *made_of;

    if (!at) {
        die("the script has changed: a rule to be left out is not found");
    }
    made_of = malloc(strlen(text) + strlen(to) + 1);
    sprintf(made_of, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    free(text);
    return made_of;
}

static const struct {
    const char *rule, *from, *to;
} rules[] = {
    { "shrink", "x[TARGET], x[GEN] = target,", "x[GRANTED] = target x[TARGET], x[GEN] = target," },
    { "generation", "elseif gen_seen == own[GEN] then", "elseif true then" },
    { "learning", "if learning > 0 then free", "if false then free" },
    { "span", "math.max(zone[SPAN], span)", "zone[SPAN]" },
};

static void load_script(const char *without)
{
    char *script = strdup(redis_words_script);
    redisReply *reply;
    size_t n;
    bool is_known = *without == '\0';

    script = replace(script, "local clock = redis.call('TIME')",
                     "local ms = tonumber(redis.call('GET', 'clock'))\n"
                     "local clock = { math.floor(ms / 1000), (ms % 1000) * 1000 }");
    /* Redis tells of servers in an order of its own. */
    script = replace(script, "local function save()", "table.sort(ids)\nlocal function save()");
    for (n = 0; n < sizeof(rules) / sizeof(*rules); n++) {
        if (strcmp(rules[n].rule, without) == 0) {
            script = replace(script, rules[n].from, rules[n].to);
            is_known = true;
        }
    }
    if (!is_known) {
        die("no such rule");
    }
    reply = must(redisCommand(engine, "SCRIPT LOAD %s", script));
    snprintf(sha, sizeof(sha), "%s", reply->str);
    freeReplyObject(reply);
    free(script);
}

/* All that was published up to now. */
static void hear_pushes(void)
{
    redisReply *reply = NULL;
    bool is_all = false;

    redisAppendCommand(ears, "PING");
    while (!is_all) {
        message_t message = { .run = run };
        char run_text[16];
        size_t key_length;

        if (redisGetReply(ears, (void **)&reply) != REDIS_OK) {
            die("no more pushes");
        }
        is_all = strcmp(reply->element[0]->str, "pong") == 0;
        snprintf(run_text, sizeof(run_text), "r%d", run);
        if (!is_all) {
            snprintf(message.id, sizeof(message.id), "%s",
                     reply->element[2]->str + sizeof("adm:") - 1);
            if (!redis_words_read_push(reply->element[3]->str, run_text, &key_length, &message.push)
                || key_length != strlen(KEY)) {
                die("a push is not understood");
            }
            put(&pushes, &message);
        }
        freeReplyObject(reply);
    }
}

void engine_execute(message_t *message, int64_t at)
{
    law_fleet_self_t self = { .name = "server" };
    char run_text[16];
    law_fleet_who_t who;
    redisReply *clock, *reply;

    if (message->run != run) {
        return; /* its connection ended with that run */
    }
    snprintf(run_text, sizeof(run_text), "r%d", run);
    /* Sent together: on a busy machine each way there and back is a wait. */
    redisAppendCommand(engine, "SET clock %lld", (long long)at);
    snprintf(self.id, sizeof(self.id), "%s", message->id);
    snprintf(self.predecessor, sizeof(self.predecessor), "%s", message->predecessor);
    if (redis_words_queue_sync(engine, sha, KEY, run_text, &self, &message->sync) != 0
        || redisGetReply(engine, (void **)&clock) != REDIS_OK
        || redisGetReply(engine, (void **)&reply) != REDIS_OK) {
        die("the engine is gone");
    }
    freeReplyObject(must(clock));
    if (!redis_words_read_reply(must(reply), &message->reply, &who)) {
        die("an answer is not understood");
    }
    freeReplyObject(reply);
    put(&replies, message);
    hear_pushes();
}

void engine_take_snapshot(void)
{
    redisReply *reply = must(redisCommand(engine, "DUMP %s", KEY));

    free(snapshot);
    snapshot = NULL;
    if (reply->type == REDIS_REPLY_STRING) {
        snapshot_length = (size_t)reply->len;
        snapshot = malloc(snapshot_length);
        memcpy(snapshot, reply->str, snapshot_length);
    }
    freeReplyObject(reply);
}

void engine_restart(unsigned how)
{
    run++;
    deaths++;
    if (how > 0) {
        command("DEL %s", KEY);
    }
    if (how == 2 && snapshot) {
        command("RESTORE %s 0 %b", KEY, snapshot, snapshot_length);
    }
}

void engine_open(const char *socket, const char *without)
{
    engine = redisConnectUnix(socket);
    ears = redisConnectUnix(socket);
    if (!engine || engine->err || !ears || ears->err) {
        die("no engine");
    }
    load_script(without);
    freeReplyObject(must(redisCommand(ears, "PSUBSCRIBE adm:*")));
}

void engine_begin(void)
{
    run = 1;
    replies.count = pushes.count = 0;
    free(snapshot);
    snapshot = NULL;
    command("FLUSHALL");
}

void engine_close(void)
{
    free(snapshot);
    redisFree(engine);
    redisFree(ears);
}
