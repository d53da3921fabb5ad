/* fleet.c - servers that share one limit, without httpd.
 *
 *   fleet PORT SERVERS LIMIT THREADS MS SECONDS [lone]
 *
 * So many servers, each a process with a segment of its own and an agent, lease their
 * shares from the Redis at the port of 127.0.0.1. Each has so many threads that ask for a
 * permit again and again and hold it for MS milliseconds. With `lone` the first one has a
 * single thread instead, that asks five times a second and holds it for one.
 *
 * Prints a line a second,
 *
 *     second SECOND requests N used SHARE most N syncs N
 *
 * how many requests ended in it, which part of the time of all permits they held one, the
 * most that held one at once since the beginning, and how often the engine answered; then,
 * with `lone`, a line for each of its requests, "lone SECOND USEC", the time that it waited.
 */
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

#include "adm.h"
#include "adm_engine.h"
#include "agent.h"
#include "redis_address.h"
#include "redis_link.h"

enum {
    SERVERS_MOST = 64,
    SECONDS_MOST = 300,
    THREADS_MOST = 512,
    LONE_MOST = 2000
};

#define LEASE_USEC (3 * ADM_USEC_PER_SEC)
#define HOLD_USEC ADM_USEC_PER_SEC
#define LONE_PAUSE_USEC 200000
#define LONE_USEC 1000

static struct {
    int port;
    unsigned servers, limit, threads, seconds;
    unsigned usec;
    bool is_lone;
} asked;

/* Of all processes. */
typedef struct court_t {
    atomic_uint running, most, requests;
    atomic_ullong held_usec;
    atomic_bool is_over;
    atomic_ullong syncs[SERVERS_MOST];
    atomic_uint lone;
    unsigned lone_second[LONE_MOST], lone_usec[LONE_MOST];
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

/* @return how long it waited, in microseconds. */
static adm_usec_t request(server_t *server, unsigned usec)
{
    const adm_entry_t entry = { .wait = ADM_WAIT_BLOCKED,
                                .queue_length = THREADS_MOST };
    adm_usec_t arrived = adm_now(), begun;
    adm_ticket_t ticket = { 0 };
    adm_outcome_t outcome = adm_ticket_enter(server->child, server->zone,
                                             &entry, arrived, &ticket);

    while (outcome == ADM_WAITING && !atomic_load(&court->is_over)) {
        outcome = adm_ticket_wait(&ticket, adm_now() + ADM_USEC_PER_SEC);
    }
    if (outcome == ADM_WAITING) {
        adm_ticket_cancel(&ticket, ADM_GONE, adm_now());
        return 0;
    }
    if (outcome != ADM_ADMITTED && outcome != ADM_WAITED) {
        usleep(1000); /* rejected: no lease */
        return adm_now() - arrived;
    }
    begun = adm_now();
    note_most(atomic_fetch_add(&court->running, 1) + 1);
    usleep(usec);
    atomic_fetch_sub(&court->running, 1);
    atomic_fetch_add(&court->held_usec,
                     (unsigned long long)(adm_now() - begun));
    atomic_fetch_add(&court->requests, 1);
    adm_ticket_release(&ticket, adm_now());
    return begun - arrived;
}

static void *ask_again(void *data)
{
    while (!atomic_load(&court->is_over)) {
        request(data, asked.usec);
    }
    return NULL;
}

static void *ask_alone(void *data)
{
    while (!atomic_load(&court->is_over)) {
        unsigned second = (unsigned)((adm_now() - began) / ADM_USEC_PER_SEC);
        adm_usec_t waited = request(data, LONE_USEC);
        unsigned n = atomic_load(&court->lone);

        if (n < LONE_MOST) {
            court->lone_second[n] = second;
            court->lone_usec[n] = (unsigned)waited;
            atomic_store(&court->lone, n + 1);
        }
        usleep(LONE_PAUSE_USEC);
    }
    return NULL;
}

static void tell(void *data, const agent_fleet_news_t *news)
{
    (void)data;
    (void)news;
}

static void tell_missing(void *data, const char *words)
{
    (void)data;
    (void)words;
}

static void start_agent(const server_t *server)
{
    static const engine_provider_t provider = { .open = redis_link_open,
                                                .wait_for = redis_link_wait_for,
                                                .work = redis_link_work,
                                                .sync = redis_link_sync,
                                                .close = redis_link_close };
    const agent_share_t zone = { .name = "bench",
                                 .handle = server->zone,
                                 .terms = { .limit = asked.limit,
                                            .lease_usec = LEASE_USEC,
                                            .hold_usec = HOLD_USEC },
                                 .longest_usec = HOLD_USEC };
    agent_fleet_t fleet = { .provider = &provider,
                            .name = apr_psprintf(server->pool, "server%u",
                                                 server->number),
                            .zones = &zone,
                            .count = 1,
                            .tell = tell };
    const agent_setup_t setup = { .fleet = &fleet,
                                  .state_fd = -1,
                                  .tell_missing = tell_missing };
    pid_t parent = getpid();

    need(redis_address_parse(server->pool,
                             apr_psprintf(server->pool, "redis://127.0.0.1:%d",
                                          asked.port),
                             NULL, 0, &fleet.address)
             == NULL,
         "no address");
    if (fork() == 0) {
        agent_begin(server->segment);
        _exit(agent_run(server->segment, parent, &setup, server->pool) != 0);
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
    need(adm_segment_configure(server->segment, "bench", asked.limit,
                               THREADS_MOST, &server->zone)
             == APR_SUCCESS,
         "no zone");
    adm_segment_share(server->segment, server->zone, ADM_FALLBACK_REJECT);
    adm_segment_end_load(server->segment, 1000000, ADM_USEC_PER_SEC);
    need(adm_agent_open_pipe(server->segment) == APR_SUCCESS, "no pipe");
}

static void serve(unsigned number)
{
    server_t server = { .number = number };
    bool is_lone = asked.is_lone && number == 0;
    unsigned count = is_lone ? 1 : asked.threads, n;
    pthread_t threads[THREADS_MOST];
    adm_engine_t engine;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    make_segment(&server);
    start_agent(&server);
    need(adm_child_register(&server.child, server.segment, 1, server.pool)
             == APR_SUCCESS,
         "not registered");
    for (n = 0; n < count; n++) {
        need(pthread_create(&threads[n], NULL, is_lone ? ask_alone : ask_again,
                            &server)
                 == 0,
             "no thread");
    }
    while (!atomic_load(&court->is_over)) {
        adm_engine_view(server.segment, &engine);
        atomic_store(&court->syncs[number], engine.syncs);
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

int main(int argc, char **argv)
{
    unsigned n;

    need(argc >= 7, "PORT SERVERS LIMIT THREADS MS SECONDS [lone]");
    asked.port = atoi(argv[1]);
    asked.servers = (unsigned)atoi(argv[2]);
    asked.limit = (unsigned)atoi(argv[3]);
    asked.threads = (unsigned)atoi(argv[4]);
    asked.usec = (unsigned)(atof(argv[5]) * 1000);
    asked.seconds = (unsigned)atoi(argv[6]);
    asked.is_lone = argc > 7;
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
    for (n = 0; n < atomic_load(&court->lone); n++) {
        printf("lone %u %u\n", court->lone_second[n], court->lone_usec[n]);
    }
    return EXIT_SUCCESS;
}
