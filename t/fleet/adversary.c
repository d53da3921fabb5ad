/* adversary.c - plays the script of the engine and the law of the servers against an
 * enemy who delays, repeats and drops messages, kills servers, and restarts the engine
 * with its data kept, lost or rolled back.
 *
 * Used by t/httpd/700-fleet-adversary.t:
 * adversary SOCKET SCHEDULES reject|keep equal|mixed [WITHOUT]
 *
 * The script is the real one in a real Redis, but for its clock. What it is sent and
 * what it answers go through redis_words.c, what servers do is law_fleet.c. After
 * every step no more requests run than the limit says. Leases and holds are equal for all
 * servers, or mixed. WITHOUT names a rule that is left out: then it must be seen.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fleet/law_fleet.h"
#include "fleet/redis_words.h"

#define KEY "adm:{zone}"
#define MESSAGES 64
#define SERVERS 5
#define LIMIT 7
#define LEASE_MS 3000
#define HOLD_MS 2500
#define END_MS 100 /* a request ends so long before the hold does */
#define GIVE_UP_MS 1000

typedef struct manner_t {
    int64_t lease_ms; /* of the first server, whose hold is HOLD_MS */
    int64_t hold_ms;  /* of the others, whose lease is LEASE_MS */
    unsigned steps;
    unsigned rarity;     /* of new servers and long pauses */
    unsigned deadliness; /* the greatest */
    unsigned first_end;  /* of the ways in which the engine ends */
} manner_t;

static const manner_t equal = { LEASE_MS, HOLD_MS, 1500, 1, 5, 0 };
/* Learning takes longer: what begins it anew is rarer. */
static const manner_t mixed = { 12000, 500, 4500, 8, 2, 1 };

typedef struct server_t {
    law_fleet_t law;
    law_fleet_terms_t terms;
    char id[16], predecessor[16];
    uint32_t share;
    int64_t until; /* of its lease, in milliseconds */
    int64_t ends[LIMIT * 4];
    uint32_t active, queued;
    int run;        /* that it is connected to; 0: to none */
    int connection; /* counted */
    int64_t cut_until;
    uint32_t kept; /* what it goes on with though others may have it, too */
} server_t;

/* A sync, its answer or a push, on its way. */
typedef struct message_t {
    char id[16];
    char predecessor[16];
    int run;
    int connection;
    law_fleet_sync_t sync;
    law_fleet_reply_t reply;
    law_fleet_push_t push;
} message_t;

typedef struct box_t {
    message_t messages[MESSAGES];
    unsigned count;
} box_t;

static const manner_t *manner;
static bool keeps;

/* One schedule. */
static server_t servers[SERVERS];
static box_t syncs;
static int64_t now; /* milliseconds */
static int made;
static unsigned long long seed;
static bool was_full, is_exceeded;
static unsigned deadliness; /* of 1000 steps */

/* The engine: its run, how often it died, and what it has said. */
static int run;
static unsigned deaths;
static box_t replies, pushes;

static void __attribute__((noreturn)) die(const char *why)
{
    fprintf(stderr, "adversary: %s\n", why);
    exit(2);
}

/* ---- chance: the same for a seed everywhere --------------------------------- */

static unsigned chance(unsigned below)
{
    seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
    return (unsigned)(seed >> 33) % below;
}

#define ONE_OF(...)                             \
    (((const int64_t[]){ __VA_ARGS__ })[chance( \
        (unsigned)(sizeof((const int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t)))])

static message_t take(box_t *box, unsigned n)
{
    message_t message = box->messages[n];

    box->count--;
    memmove(&box->messages[n], &box->messages[n + 1], (box->count - n) * sizeof(message));
    return message;
}

/* What there is no room for is lost. */
static void put(box_t *box, const message_t *message)
{
    if (box->count < MESSAGES) {
        box->messages[box->count++] = *message;
    }
}

/* ---- the engine -------------------------------------------------------------------- */

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

#define COMMAND(...) freeReplyObject(must(redisCommand(engine, __VA_ARGS__)))

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

/* A sync at a time, in milliseconds: its answer and pushes are put. */
static void engine_execute(message_t *message, int64_t at)
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

/* Note what it knows now. */
static void engine_take_snapshot(void)
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

/* It dies, and begins again: 0 with its data, 1 without, 2 with the snapshot's. */
static void engine_restart(unsigned how)
{
    run++;
    deaths++;
    if (how > 0) {
        COMMAND("DEL %s", KEY);
    }
    if (how == 2 && snapshot) {
        COMMAND("RESTORE %s 0 %b", KEY, snapshot, snapshot_length);
    }
}

/* Find Redis at its socket, and load the script without a rule; "": with all. */
static void engine_open(const char *socket, const char *without)
{
    engine = redisConnectUnix(socket);
    ears = redisConnectUnix(socket);
    if (!engine || engine->err || !ears || ears->err) {
        die("no engine");
    }
    load_script(without);
    freeReplyObject(must(redisCommand(ears, "PSUBSCRIBE adm:*")));
}

/* Forget all. */
static void engine_begin(void)
{
    run = 1;
    replies.count = pushes.count = 0;
    free(snapshot);
    snapshot = NULL;
    COMMAND("FLUSHALL");
}

static void engine_close(void)
{
    free(snapshot);
    redisFree(engine);
    redisFree(ears);
}

/* ---- servers --------------------------------------------------------------------- */

static law_fleet_terms_t terms_of(const server_t *server)
{
    bool is_first = server == &servers[0];

    return (law_fleet_terms_t){ .limit = LIMIT,
                                .lease_usec = (is_first ? manner->lease_ms : LEASE_MS) * 1000,
                                .hold_usec = (is_first ? HOLD_MS : manner->hold_ms) * 1000 };
}

/* One with a longer lease than the others says no more than it must. */
static bool would_speak(const server_t *server)
{
    return server->terms.lease_usec <= LEASE_MS * 1000
           || now * 1000 - server->law.synced_at >= server->terms.lease_usec / 3;
}

static void new_server(server_t *server)
{
    server_t before = *server;

    /* Its requests ended with it, which the next one may know. */
    *server = (server_t){ .connection = before.connection + 1 };
    if (chance(2)) {
        memcpy(server->predecessor, before.id, sizeof(before.id));
    }
    snprintf(server->id, sizeof(server->id), "s%d", ++made);
    server->terms = terms_of(server);
    law_fleet_begin(&server->law, now * 1000);
}

static bool has_lease(const server_t *server)
{
    return now < server->until;
}

/* What adm_limit_compute() makes of share and lease. */
static uint32_t may_use(const server_t *server)
{
    return has_lease(server) || keeps ? server->share : 0;
}

static void verify(void)
{
    uint32_t sum = 0, allowed = LIMIT;
    unsigned n;

    for (n = 0; n < SERVERS; n++) {
        sum += servers[n].active;
        allowed += servers[n].kept;
    }
    was_full |= sum >= LIMIT;
    if (sum > allowed && !is_exceeded) {
        printf("# %u of %u run\n", sum, allowed);
    }
    is_exceeded |= sum > allowed;
}

static void start_requests(server_t *server)
{
    int64_t longest = server->terms.hold_usec / 1000 - END_MS;

    while (server->queued > 0 && server->active < may_use(server)
           && server->active < sizeof(server->ends) / sizeof(*server->ends)) {
        server->queued--;
        server->ends[server->active++] = now + 1 + chance((unsigned)longest - 1);
    }
}

static void end_requests(server_t *server)
{
    uint32_t n = 0;

    while (n < server->active) {
        if (server->ends[n] <= now) {
            server->ends[n] = server->ends[--server->active];
        }
        else {
            n++;
        }
    }
}

/* Cut off from a living engine for longer than that keeps its share for it. */
static void note_kept(server_t *server)
{
    uint32_t used = server->share > server->active ? server->share : server->active;

    if (keeps && used > 0 && server->until > 0
        && now > server->until + server->terms.hold_usec / 1000 && server->kept < used) {
        server->kept = used;
    }
}

static void pass_time(int64_t milliseconds)
{
    int64_t to = now + milliseconds;
    unsigned n;

    while (now < to && !is_exceeded) {
        int64_t next = to;
        uint32_t i;

        for (n = 0; n < SERVERS; n++) {
            for (i = 0; i < servers[n].active; i++) {
                if (servers[n].ends[i] < next) {
                    next = servers[n].ends[i];
                }
            }
        }
        now = next > now ? next : now + 1;
        for (n = 0; n < SERVERS; n++) {
            end_requests(&servers[n]);
            note_kept(&servers[n]);
        }
        for (n = 0; n < SERVERS; n++) {
            start_requests(&servers[n]);
        }
        verify();
    }
}

/* What fleet_promise() does under the zone's lock. */
static law_fleet_work_t promise(server_t *server)
{
    law_fleet_work_t work = { .active = server->active,
                              .queued = server->queued,
                              .other_limit = LIMIT,
                              .oldest_usec = 5000 };
    uint32_t keep;

    server->share = may_use(server);
    work.share = server->share;
    keep = law_fleet_keep(&server->law, &work, now * 1000);
    keep = keep > server->active ? keep : server->active;
    if (server->share > keep) {
        server->share = keep;
    }
    work.share = server->share;
    return work;
}

static void connect_server(server_t *server)
{
    server->connection++;
    law_fleet_connected(&server->law, server->run != run, now, now * 1000);
    server->run = run;
}

static void send_sync(server_t *server)
{
    message_t message = { 0 };
    law_fleet_work_t work;

    if (now < server->cut_until) {
        return;
    }
    if (server->run != run
        || (server->law.sent_at != 0 && now - server->law.sent_at / 1000 >= GIVE_UP_MS)) {
        connect_server(server);
    }
    if (server->law.sent_at != 0) {
        return;
    }
    work = promise(server);
    memcpy(message.id, server->id, sizeof(message.id));
    memcpy(message.predecessor, server->predecessor, sizeof(message.id));
    message.run = run;
    message.connection = server->connection;
    law_fleet_fill_sync(&server->law, &server->terms, &work, false, now * 1000, &message.sync);
    put(&syncs, &message);
}

static server_t *find(const char *id)
{
    unsigned n;

    for (n = 0; n < SERVERS; n++) {
        if (strcmp(servers[n].id, id) == 0) {
            return now >= servers[n].cut_until ? &servers[n] : NULL;
        }
    }
    return NULL;
}

/* What fleet_apply() does. */
static void apply(server_t *server, const law_fleet_share_t *share)
{
    if (share->share != LAW_FLEET_AS_BEFORE) {
        server->share = share->share;
    }
    server->until = share->until_usec / 1000;
    start_requests(server);
}

static void hear_reply(const message_t *message)
{
    server_t *server = find(message->id);
    law_fleet_share_t share;

    if (!server || server->connection != message->connection) {
        return;
    }
    server->share = may_use(server);
    if (law_fleet_accept_reply(&server->law, &server->terms, &message->reply, now * 1000, &share)) {
        /* An engine that learns does not know yet whether that fits. */
        if (message->reply.reserved <= message->reply.limit && message->reply.learning_msec == 0) {
            server->kept = 0;
        }
        apply(server, &share);
    }
}

static void hear_push(const message_t *message)
{
    server_t *server = find(message->id);
    law_fleet_share_t share;

    if (server && server->run == message->run
        && law_fleet_accept_push(&server->law, &server->terms, &message->push, now * 1000,
                                 &share)) {
        apply(server, &share);
    }
}

/* ---- the enemy -------------------------------------------------------------------- */

/* It loses its connection; what it sent may still be executed. */
static void cut_off(server_t *server)
{
    unsigned n = 0;

    law_fleet_lost(&server->law);
    server->connection++;
    server->cut_until = now + ONE_OF(0, 0, 500, 2500, 5000, 15000);
    while (n < pushes.count) {
        if (strcmp(pushes.messages[n].id, server->id) == 0) {
            take(&pushes, n);
        }
        else {
            n++;
        }
    }
}

static void lose_some(void)
{
    box_t *const boxes[] = { &syncs, &replies, &pushes };
    unsigned n;

    for (n = 0; n < 3; n++) {
        if (boxes[n]->count) {
            take(boxes[n], chance(boxes[n]->count));
        }
    }
}

/* The next one or any. */
static unsigned choose(const box_t *box)
{
    return chance(2) ? chance(box->count) : 0;
}

static void step(void)
{
    server_t *server = &servers[chance(SERVERS)];
    unsigned what = chance(1000);
    message_t message;

    if (what < 220) {
        pass_time(ONE_OF(1, 5, 20, 60, 200));
    }
    else if (what < 450) {
        if (would_speak(server)) {
            send_sync(server);
        }
    }
    else if (what < 680 && syncs.count) {
        message = take(&syncs, choose(&syncs));
        engine_execute(&message, now);
    }
    else if (what < 800 && replies.count) {
        message = take(&replies, choose(&replies));
        hear_reply(&message);
    }
    else if (what < 900 && pushes.count) {
        message = take(&pushes, 0); /* one connection: in order, but late */
        hear_push(&message);
    }
    else if (what < 965) {
        server->queued = (uint32_t)ONE_OF(0, 1, 3, 20);
        start_requests(server);
    }
    else if (what < 975 && chance(manner->rarity)) {
        pass_time(1);
    }
    else if (what < 970) {
        new_server(server);
    }
    else if (what < 975) {
        pass_time(ONE_OF(500, 1500, 4000, 9000)); /* everybody is stuck */
    }
    else if (what < 978) {
        cut_off(server);
    }
    else if (what < 980) {
        lose_some();
    }
    else if (what < 985) {
        engine_take_snapshot();
    }
    else if (what < 985 + deadliness) {
        syncs.count = 0;
        engine_restart(manner->first_end + chance(3 - manner->first_end));
    }
    verify();
}

static void play(unsigned schedule)
{
    unsigned n;

    seed = schedule * 7919ULL + 17;
    now = 1000000;
    deadliness = (unsigned)ONE_OF(0, 1, 2, manner->deadliness);
    syncs.count = 0;
    engine_begin();
    made = 0;
    memset(servers, 0, sizeof(servers));
    was_full = is_exceeded = false;
    for (n = 0; n < SERVERS; n++) {
        new_server(&servers[n]);
    }
    for (n = 0; n < manner->steps && !is_exceeded; n++) {
        step();
    }
}

int main(int argc, char *argv[])
{
    unsigned schedules, n, exceeded = 0, full = 0;

    if (argc < 5) {
        die("adversary SOCKET SCHEDULES reject|keep equal|mixed [WITHOUT]");
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    schedules = (unsigned)strtoul(argv[2], NULL, 10);
    keeps = strcmp(argv[3], "keep") == 0;
    manner = strcmp(argv[4], "mixed") == 0 ? &mixed : &equal;
    engine_open(argv[1], argc > 5 ? argv[5] : "");
    /* Without a rule, the first one that exceeds the limit shows what the rule is for. */
    for (n = 0; n < schedules && !(argc > 5 && exceeded > 0); n++) {
        play(n);
        if (is_exceeded) {
            printf("# schedule %u\n", n);
        }
        exceeded += is_exceeded;
        full += was_full;
    }
    printf("schedules %u, deaths of the engine %u, exceed %u, full %u\n", n, deaths, exceeded,
           full);
    engine_close();
    return 0;
}
