/* fleet.c - servers that share one limit, without httpd.
 *
 *   fleet PORT SERVERS LIMIT THREADS MS SECONDS [lone | open RATE | permit RATE]
 *
 * SERVERS servers, each a process with its own segment and agent, lease their shares
 * from the Redis at PORT of 127.0.0.1. Each has THREADS threads that repeatedly request
 * a permit and hold it for MS milliseconds.
 *
 *   lone    the first server has a single thread instead, which requests a permit some
 *           five times per second and holds it for one millisecond; the others hold
 *           theirs for MS milliseconds on average. Pauses and times have exponential
 *           distributions
 *   open    RATE requests per second in all threads, at random times, which hold a permit
 *           for MS milliseconds on average, with the same distribution. They start when
 *           the engine has learned
 *   permit  the same load without shares: each request takes a permit from a list of the
 *           engine and returns it
 *
 * Prints a line per second,
 *
 *     second SECOND requests N used SHARE most N syncs N
 *
 * with the number of requests that ended in it, the used share of the permits' time, the
 * peak of permits in use since the start, and the number of replies of the engine; then,
 * with a load, a line for each of its requests, "wait SECOND USEC", the time that it waited:
 * of the lone requests, or of all.
 */
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <apr_general.h>
#include <apr_strings.h>
#include <hiredis/hiredis.h>

#include "core/adm.h"
#include "agent/agent.h"
#include "fleet/fleet_shm.h"
#include "fleet/fleet_duty.h"
#include "fleet/redis_address.h"
#include "fleet/redis_link.h"

enum {
    SERVERS_MOST = 64,
    SECONDS_MOST = 300,
    THREADS_MOST = 512,
    WAITS_MOST = 1000000
};

#define LEASE_USEC (3 * ADM_USEC_PER_SEC)
#define HOLD_USEC ADM_USEC_PER_SEC
#define LONE_PAUSE_USEC 200000
#define LONE_USEC 1000

static struct {
    int port;
    unsigned servers, limit, threads, seconds;
    unsigned usec;
    bool is_lone, is_permit;
    double rate; /* 0: repeatedly */
} asked;

/* Counters of all processes. */
typedef struct court_t {
    atomic_uint running, most, requests;
    atomic_ullong held_usec;
    atomic_bool is_over;
    atomic_ullong syncs[SERVERS_MOST];
    atomic_uint waits;
    unsigned wait_second[WAITS_MOST], wait_usec[WAITS_MOST];
} court_t;

static court_t *court;
static adm_usec_t began;

static void need(bool condition, const char *what)
{
    if (!condition) {
        fprintf(stderr, "fleet: %s\n", what);
        exit(EXIT_FAILURE);
    }
}

/* ---- one server ----------------------------------------------------------- */

typedef struct server_t {
    unsigned number;
    apr_pool_t *pool;
    adm_segment_t *segment;
    adm_zone_t zone;
    adm_child_t *child;
} server_t;

static void note_most(unsigned running)
{
    unsigned most = atomic_load(&court->most);

    while (running > most
           && !atomic_compare_exchange_weak(&court->most, &most, running)) {
    }
}

static void note_wait(adm_usec_t arrived, adm_usec_t begun)
{
    unsigned n = atomic_fetch_add(&court->waits, 1);

    if (n < WAITS_MOST) {
        court->wait_second[n] = (unsigned)((arrived - began)
                                           / ADM_USEC_PER_SEC);
        court->wait_usec[n] = (unsigned)(begun - arrived);
    }
}

/* Hold the permit for the time of a request. @return its start. */
static adm_usec_t hold(unsigned usec)
{
    adm_usec_t begun = adm_now();

    note_most(atomic_fetch_add(&court->running, 1) + 1);
    usleep(usec);
    atomic_fetch_sub(&court->running, 1);
    atomic_fetch_add(&court->held_usec,
                     (unsigned long long)(adm_now() - begun));
    atomic_fetch_add(&court->requests, 1);
    return begun;
}

/* @return its start; 0: it was rejected, or the run is over. */
static adm_usec_t request(server_t *server, unsigned usec)
{
    const adm_entry_t entry = { .wait = ADM_WAIT_BLOCKED,
                                .queue_length = THREADS_MOST };
    adm_usec_t begun;
    adm_ticket_t ticket = { 0 };
    adm_outcome_t outcome = adm_ticket_enter(server->child, server->zone,
                                             &entry, adm_now(), &ticket);

    while (outcome == ADM_WAITING && !atomic_load(&court->is_over)) {
        adm_ticket_sleep(&ticket, adm_now() + ADM_USEC_PER_SEC);
        outcome = adm_ticket_outcome(&ticket, INT64_MAX, adm_now());
    }
    if (outcome != ADM_ADMITTED && outcome != ADM_WAITED) {
        adm_ticket_cancel(&ticket, ADM_GONE, adm_now());
        usleep(1000); /* no lease */
        return 0;
    }
    begun = hold(usec);
    adm_ticket_release(&ticket, adm_now());
    return begun;
}

/* ---- its threads ------------------------------------------------------------ */

typedef struct source_t {
    server_t *server;
    struct drand48_data random;
    redisContext *engine; /* without shares */
} source_t;

static double exponential(source_t *source, double mean)
{
    double number;

    drand48_r(&source->random, &number);
    return -mean * log(1 - number);
}

static void *ask_again(void *data)
{
    source_t *source = data;

    while (!atomic_load(&court->is_over)) {
        request(source->server, asked.is_lone
                                    ? (unsigned)exponential(source, asked.usec)
                                    : asked.usec);
    }
    return NULL;
}

static void *ask_alone(void *data)
{
    source_t *source = data;

    while (!atomic_load(&court->is_over)) {
        adm_usec_t arrived = adm_now();
        adm_usec_t begun = request(source->server, LONE_USEC);

        if (begun) {
            note_wait(arrived, begun);
        }
        usleep((useconds_t)exponential(source, LONE_PAUSE_USEC));
    }
    return NULL;
}

static adm_usec_t take_permit(const source_t *source, unsigned usec)
{
    redisReply *permit = redisCommand(source->engine, "BLPOP permits 1");
    bool is_taken = permit && permit->type == REDIS_REPLY_ARRAY;
    adm_usec_t begun = 0;

    freeReplyObject(permit);
    if (is_taken) {
        begun = hold(usec);
        freeReplyObject(redisCommand(source->engine, "RPUSH permits 1"));
    }
    return begun;
}

/* A busy thread skips its request: there are many threads. */
static void *ask_at_random(void *data)
{
    source_t *source = data;
    double mean = 1e6 * asked.servers * asked.threads / asked.rate;
    adm_usec_t arrived = began + LEASE_USEC + HOLD_USEC + ADM_USEC_PER_SEC;

    while (!atomic_load(&court->is_over)) {
        unsigned usec = (unsigned)exponential(source, asked.usec);
        adm_usec_t now = adm_now(), begun;

        arrived += (adm_usec_t)exponential(source, mean);
        if (now < arrived) {
            usleep((useconds_t)(arrived - now));
        }
        else {
            arrived = now;
        }
        begun = asked.is_permit ? take_permit(source, usec)
                                : request(source->server, usec);
        if (begun) {
            note_wait(arrived, begun);
        }
    }
    return NULL;
}

static void begin_source(source_t *source, server_t *server, unsigned n)
{
    source->server = server;
    srand48_r((long)(server->number * THREADS_MOST + n), &source->random);
    if (asked.is_permit) {
        source->engine = redisConnect("127.0.0.1", asked.port);
        need(source->engine && !source->engine->err, "no engine");
    }
}

/* ---- its agent --------------------------------------------------------------- */

/* For paths of options. Of httpd, which is not linked here. */
char *ap_server_root_relative(apr_pool_t *p, const char *path);

char *ap_server_root_relative(apr_pool_t *p, const char *path)
{
    return apr_pstrcat(p, "/", path, NULL);
}

static void log_event(const fleet_news_t *news)
{
    (void)news;
}

static void start_agent(const server_t *server)
{
    const agent_share_t zone = { .name = "bench",
                                 .handle = server->zone,
                                 .terms = { .limit = asked.limit,
                                            .lease_usec = LEASE_USEC,
                                            .hold_usec = HOLD_USEC },
                                 .longest_usec = HOLD_USEC };
    fleet_self_t self;
    fleet_setup_t fleet = { .provider = &redis_link_provider,
                            .self = &self,
                            .name = apr_psprintf(server->pool, "server%u",
                                                 server->number),
                            .zones = &zone,
                            .count = 1,
                            .id_fd = -1,
                            .log_event = log_event };
    const agent_task_t tasks[] = { { &fleet_duty, &fleet }, { NULL, NULL } };
    pid_t parent = getpid();

    fleet_begin_self(&self);
    need(redis_address_parse(server->pool,
                             apr_psprintf(server->pool, "redis://127.0.0.1:%d",
                                          asked.port),
                             NULL, 0, &fleet.address)
             == NULL,
         "no address");
    if (fork() == 0) {
        agent_begin(server->segment);
        _exit(agent_run(server->segment, parent, tasks, server->pool) != 0);
    }
}

static void make_segment(server_t *server)
{
    const adm_sizes_t sizes = { 8, 4, THREADS_MOST * 2, 8 };

    apr_pool_create(&server->pool, NULL);
    need(adm_segment_create(&server->segment, &sizes, server->pool)
             == APR_SUCCESS,
         "no segment");
    adm_segment_begin_load(server->segment);
    need(adm_segment_configure(server->segment, "bench", asked.limit, 0,
                               THREADS_MOST, &server->zone)
             == APR_SUCCESS,
         "no zone");
    adm_segment_share(server->segment, server->zone, ADM_FALLBACK_REJECT);
    adm_segment_end_load(server->segment, 1000000, ADM_USEC_PER_SEC);
    need(adm_agent_open_event(server->segment) == APR_SUCCESS, "no pipe");
}

static void serve(unsigned number)
{
    server_t server = { .number = number };
    bool is_lone = asked.is_lone && number == 0;
    unsigned count = is_lone ? 1 : asked.threads, n;
    pthread_t threads[THREADS_MOST];
    static source_t sources[THREADS_MOST];
    void *(*way)(void *) = asked.rate > 0 ? ask_at_random
                           : is_lone      ? ask_alone
                                          : ask_again;
    fleet_engine_t engine;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    make_segment(&server);
    if (!asked.is_permit) {
        start_agent(&server);
    }
    need(adm_child_register(&server.child, server.segment, 1, server.pool)
             == APR_SUCCESS,
         "not registered");
    for (n = 0; n < count; n++) {
        begin_source(&sources[n], &server, n);
        need(pthread_create(&threads[n], NULL, way, &sources[n]) == 0,
             "no thread");
    }
    while (!atomic_load(&court->is_over)) {
        fleet_engine_view(server.segment, &engine);
        atomic_store(&court->syncs[number], engine.counts[FLEET_ENGINE_SYNC]);
        usleep(50000);
    }
    for (n = 0; n < count; n++) {
        pthread_join(threads[n], NULL);
    }
    _exit(EXIT_SUCCESS);
}

/* ---- all of them ------------------------------------------------------------ */

static unsigned long long syncs(void)
{
    unsigned long long sum = 0;
    unsigned n;

    for (n = 0; n < asked.servers; n++) {
        sum += atomic_load(&court->syncs[n]);
    }
    return sum;
}

static void watch(void)
{
    unsigned long long syncs_before = 0;
    adm_usec_t before = began;
    unsigned second;

    for (second = 0; second < asked.seconds; second++) {
        adm_usec_t until = began + (second + 1) * ADM_USEC_PER_SEC;
        unsigned long long held, now_syncs;
        adm_usec_t now;

        while ((now = adm_now()) < until) {
            usleep((useconds_t)(until - now));
        }
        held = atomic_exchange(&court->held_usec, 0);
        now_syncs = syncs();
        printf("second %u requests %u used %.4f most %u syncs %llu\n", second,
               atomic_exchange(&court->requests, 0),
               (double)held / asked.limit / (double)(now - before),
               atomic_load(&court->most), now_syncs - syncs_before);
        fflush(stdout);
        before = now;
        syncs_before = now_syncs;
    }
}

static void put_permits(void)
{
    redisContext *engine = redisConnect("127.0.0.1", asked.port);
    unsigned n;

    need(engine && !engine->err, "no engine");
    for (n = 0; n < asked.limit; n++) {
        freeReplyObject(redisCommand(engine, "RPUSH permits 1"));
    }
    redisFree(engine);
}

static void read_load(int argc, char **argv)
{
    const char *load = argc > 7 ? argv[7] : "";

    asked.is_lone = strcmp(load, "lone") == 0;
    asked.is_permit = strcmp(load, "permit") == 0;
    if (asked.is_permit || strcmp(load, "open") == 0) {
        asked.rate = argc > 8 ? atof(argv[8]) : 0;
        need(asked.rate >= 1, "a rate: at least 1");
    }
    need(asked.is_lone || asked.rate > 0 || argc == 7,
         "lone, open RATE or permit RATE");
}

int main(int argc, char **argv)
{
    unsigned n;

    need(argc >= 7, "PORT SERVERS LIMIT THREADS MS SECONDS [LOAD]");
    asked.port = atoi(argv[1]);
    asked.servers = (unsigned)atoi(argv[2]);
    asked.limit = (unsigned)atoi(argv[3]);
    asked.threads = (unsigned)atoi(argv[4]);
    asked.usec = (unsigned)(atof(argv[5]) * 1000);
    asked.seconds = (unsigned)atoi(argv[6]);
    read_load(argc, argv);
    need(asked.servers >= 1 && asked.servers <= SERVERS_MOST,
         "servers: 1 to 64");
    need(asked.threads >= 1 && asked.threads <= THREADS_MOST,
         "threads: 1 to 512");
    need(asked.seconds >= 1 && asked.seconds <= SECONDS_MOST,
         "seconds: 1 to 300");
    apr_initialize();
    court = mmap(NULL, sizeof(*court), PROT_READ | PROT_WRITE,
                 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    need(court != MAP_FAILED, "no memory");
    if (asked.is_permit) {
        put_permits();
    }
    began = adm_now();
    for (n = 0; n < asked.servers; n++) {
        if (fork() == 0) {
            serve(n);
        }
    }
    watch();
    atomic_store(&court->is_over, true);
    while (wait(NULL) > 0) {
    }
    for (n = 0; n < atomic_load(&court->waits) && n < WAITS_MOST; n++) {
        printf("wait %u %u\n", court->wait_second[n], court->wait_usec[n]);
    }
    return EXIT_SUCCESS;
}
