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
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adversary.h"

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

void die(const char *why)
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

static int64_t one_of(unsigned count, ...)
{
    unsigned n = chance(count);
    int64_t value = 0;
    va_list args;

    va_start(args, count);
    for (n++; n > 0; n--) {
        value = va_arg(args, int);
    }
    va_end(args);
    return value;
}

static message_t take(box_t *box, unsigned n)
{
    message_t message = box->messages[n];

    box->count--;
    memmove(&box->messages[n], &box->messages[n + 1], (box->count - n) * sizeof(message));
    return message;
}

/* What there is no room for is lost. */
void put(box_t *box, const message_t *message)
{
    if (box->count < MESSAGES) {
        box->messages[box->count++] = *message;
    }
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
    server->cut_until = now + one_of(6, 0, 0, 500, 2500, 5000, 15000);
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
        pass_time(one_of(5, 1, 5, 20, 60, 200));
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
        server->queued = (uint32_t)one_of(4, 0, 1, 3, 20);
        start_requests(server);
    }
    else if (what < 975 && chance(manner->rarity)) {
        pass_time(1);
    }
    else if (what < 970) {
        new_server(server);
    }
    else if (what < 975) {
        pass_time(one_of(4, 500, 1500, 4000, 9000)); /* everybody is stuck */
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
    deadliness = (unsigned)one_of(4, 0, 1, 2, manner->deadliness);
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
