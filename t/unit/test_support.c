/* test_support.c - what every test of the core starts from. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <apr_file_io.h>
#include <apr_general.h>
#include <apr_strings.h>

#include "core/adm_child.h"
#include "core/adm_pool.h"
#include "core/adm_zone.h"
#include "test_support.h"

/* Generous: slow machines and valgrind only lengthen failing tests. */
#define DEADLINE_USEC (60 * ADM_USEC_PER_SEC)

/* Not many: t/crash/test_step compares the whole segment at each step. */
#define FLOW_TABLES 4

apr_pool_t *pool;
adm_segment_t *segment;
atomic_uint *shared;

adm_zone_t zone;
adm_child_t *child;

bool uses_flows, has_keys, is_spoilt;

char folder[32];

static unsigned zones_made;

/* A registered thread holds a lock in the segment for the rest of its life, so
 * that the mapping has to stay as well. */
static bool has_joined;
static pid_t test_pid;

/* Places in line that requests of a zone ask for; by its number. */
#define ZONES_AT_MOST 16384
static uint32_t queue_lengths[ZONES_AT_MOST];

/* ---- time ---------------------------------------------------------------- */

adm_usec_t deadline(void)
{
    return adm_now() + DEADLINE_USEC;
}

adm_usec_t at_once(void)
{
    return 0;
}

void pause_briefly(void)
{
    struct timespec nap = { .tv_nsec = 200 * 1000 };

    nanosleep(&nap, NULL);
}

/* ---- frame --------------------------------------------------------------- */

void set_up(void)
{
    uses_flows = has_keys = is_spoilt = false;
    test_pid = getpid();
    apr_initialize();
    apr_pool_create(&pool, NULL);
    shared = mmap(NULL, SHARED_WORDS * sizeof(*shared), PROT_READ | PROT_WRITE,
                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(shared, MAP_FAILED);
    zones_made = 0;
    segment = NULL;
    make_segment(8, 8, 256);
}

static void drop_segment(void)
{
    if (!is_spoilt) {
        assert_segment_consistent();
    }
    if (!has_joined) {
        adm_segment_destroy(segment);
    }
    has_joined = false;
    adm_child_forget_self();
}

void tear_down(void)
{
    drop_segment();
    if (*folder) {
        ck_assert_int_eq(system(apr_pstrcat(pool, "rm -rf ", folder, NULL)), 0);
        *folder = '\0';
    }
    munmap(shared, SHARED_WORDS * sizeof(*shared));
    apr_pool_destroy(pool);
}

void set_up_with_flows(void)
{
    set_up();
    uses_flows = true;
    make_segment(8, 8, 256);
}

/* ---- files --------------------------------------------------------------- */

void make_folder(void)
{
    strcpy(folder, "/tmp/admission-test-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
}

const char *path_in_folder(const char *name)
{
    return apr_pstrcat(pool, folder, "/", name, NULL);
}

void write_file(const char *name, const char *format, ...)
{
    const char *path = path_in_folder(name);
    char *parent = apr_pstrmemdup(pool, path, (size_t)(strrchr(path, '/') - path));
    va_list args;
    FILE *file;

    ck_assert_int_eq(apr_dir_make_recursive(parent, APR_OS_DEFAULT, pool), APR_SUCCESS);
    file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    va_start(args, format);
    vfprintf(file, format, args);
    va_end(args);
    fclose(file);
}

void write_process(uint32_t pid, int mb, int peak_mb)
{
    long pages = (long)mb * 1024 * 1024 / sysconf(_SC_PAGESIZE);

    write_file(apr_psprintf(pool, "/proc/%u/statm", pid), "%ld %ld 1 1 0 1 0\n", 2 * pages, pages);
    /* A program can have a name that misleads a reader of the file. */
    write_file(apr_psprintf(pool, "/proc/%u/stat", pid),
               "%u (a) Z 1) S 0 0 0 0 0 0 0 0 7 0 2 1 0 0 0 0 1 0 0 0 %ld\n", pid, pages);
    write_file(apr_psprintf(pool, "/proc/%u/status", pid), "Name: a\nVmHWM:\t%d kB\n",
               peak_mb * 1024);
}

/* ---- memory -------------------------------------------------------------- */

size_t resident_pages(const void *from, const void *to)
{
    static unsigned char in_core[128 * 1024];
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t first = ((uintptr_t)from + page - 1) / page * page;
    size_t pages = ((uintptr_t)to - first) / page, n, resident = 0;

    ck_assert_uint_le(pages, sizeof(in_core));
    ck_assert_int_eq(mincore((void *)first, pages * page, in_core), 0);
    for (n = 0; n < pages; n++) {
        resident += in_core[n] & 1;
    }
    return resident;
}

/* ---- a small world ------------------------------------------------------- */

void make_segment(uint32_t zones, uint32_t children, uint32_t tickets)
{
    adm_sizes_t sizes = { zones, children, tickets,
                          !uses_flows           ? 0
                          : zones < FLOW_TABLES ? zones
                                                : FLOW_TABLES };

    if (segment) {
        drop_segment();
    }
    ck_assert_int_eq(adm_segment_create(&segment, &sizes, pool), APR_SUCCESS);
    ck_assert_int_eq(adm_program_watch_forks(segment), APR_SUCCESS);
}

adm_zone_t zone_called(const char *name, uint32_t limit, uint32_t queue_length)
{
    adm_zone_t zone = { 0, 0 };

    adm_segment_begin_load(segment);
    ck_assert_int_eq(adm_segment_configure(segment, name, limit, 0, queue_length, &zone),
                     APR_SUCCESS);
    ck_assert_int_eq(adm_segment_use_flows(segment, zone, uses_flows), APR_SUCCESS);
    adm_segment_end_load(segment, 1000000, 3600 * ADM_USEC_PER_SEC);
    ck_assert_uint_lt(zone.idx, ZONES_AT_MOST);
    queue_lengths[zone.idx] = queue_length;
    return zone;
}

adm_zone_t zone_with(uint32_t limit, uint32_t queue_length)
{
    char name[32];

    snprintf(name, sizeof(name), "zone %u", ++zones_made);
    return zone_called(name, limit, queue_length);
}

void set_worker_cap(uint32_t cap)
{
    adm_segment_begin_load(segment);
    adm_segment_end_load(segment, cap, 3600 * ADM_USEC_PER_SEC);
}

adm_child_t *try_to_join(void)
{
    adm_child_t *child = NULL;
    apr_status_t rv = adm_child_register(&child, segment, 1, pool);

    has_joined = true;
    return rv == APR_SUCCESS ? child : NULL;
}

adm_child_t *join(void)
{
    adm_child_t *child = try_to_join();

    if (!child && getpid() != test_pid) {
        fputs("# cannot register\n", stderr);
        _exit(1);
    }
    ck_assert_ptr_nonnull(child);
    return child;
}

void stage(uint32_t limit, uint32_t queue_length)
{
    zone = zone_with(limit, queue_length);
    child = join();
}

adm_outcome_t enter(adm_child_t *child, adm_zone_t zone, adm_ticket_t *ticket)
{
    return enter_as(child, zone, WAITS, adm_now(), ticket);
}

adm_outcome_t enter_as(adm_child_t *child, adm_zone_t zone, adm_entry_t entry, adm_usec_t now,
                       adm_ticket_t *ticket)
{
    *ticket = (adm_ticket_t){ 0 };
    entry.queue_length = queue_lengths[zone.idx % ZONES_AT_MOST];
    if (has_keys) {
        entry.key = (uint64_t)getpid();
        entry.key_name = "a process";
    }
    return adm_ticket_enter(child, zone, &entry, now, ticket);
}

void enter_many(adm_child_t *child, adm_zone_t zone, adm_ticket_t *tickets, uint32_t count,
                adm_outcome_t expected)
{
    uint32_t i;

    for (i = 0; i < count; i++) {
        ck_assert_int_eq(enter(child, zone, &tickets[i]), expected);
    }
}

adm_outcome_t wait_until(adm_ticket_t *ticket, adm_usec_t until)
{
    adm_outcome_t outcome;

    while ((outcome = adm_ticket_outcome(ticket, until, adm_now())) == ADM_WAITING) {
        adm_ticket_sleep(ticket, until);
    }
    return outcome;
}

void leave(adm_ticket_t *ticket)
{
    adm_ticket_release(ticket, adm_now());
}

adm_zone_rec_t *rec_of_zone(adm_zone_t zone)
{
    return adm_zone_at(segment, zone.idx);
}

adm_ticket_rec_t *rec_of_ticket(const adm_ticket_t *ticket)
{
    return adm_ticket_at(segment, ticket->idx);
}

void rebuild_zone(adm_zone_t zone)
{
    apr_status_t rv;
    adm_zone_rec_t *rec = adm_zone_lock(segment, zone.idx, &rv);

    ck_assert_ptr_nonnull(rec);
    adm_pool_rebuild_locked(segment, rec);
    adm_zone_unlock(segment, rec, adm_now());
}

uint32_t active_in(adm_zone_t zone)
{
    return atomic_load(&rec_of_zone(zone)->active);
}

uint32_t queued_in(adm_zone_t zone)
{
    return atomic_load(&rec_of_zone(zone)->queued);
}

uint32_t orphans_in(adm_zone_t zone)
{
    return atomic_load(&rec_of_zone(zone)->orphans);
}

unsigned seed_or(unsigned usual)
{
    const char *given = getenv("SEED");
    unsigned seed = given ? (unsigned)strtoul(given, NULL, 0) : usual;

    printf("# SEED=%u\n", seed);
    fflush(stdout);
    return seed;
}

adm_zone_stats_t stats_of(adm_child_t *child, adm_zone_t zone)
{
    adm_zone_stats_t stats;

    ck_assert_int_eq(adm_view_zone(child, zone, adm_now(), &stats, NULL), APR_SUCCESS);
    return stats;
}

/* ---- other processes ----------------------------------------------------- */

pid_t start(story_t story, void *context)
{
    pid_t pid;

    fflush(NULL);
    pid = fork();
    ck_assert_int_ne(pid, -1);
    if (pid == 0) {
        int code = story(context);

        fflush(NULL);
        _exit(code);
    }
    return pid;
}

pid_t wait_until_stopped(pid_t pid)
{
    int status;

    ck_assert_int_eq(waitpid(pid, &status, WUNTRACED), pid);
    ck_assert(WIFSTOPPED(status));
    return pid;
}

int end_of(pid_t pid)
{
    int status;
    pid_t ended;

    while ((ended = waitpid(pid, &status, 0)) == -1 && errno == EINTR) {
    }
    ck_assert_int_eq(ended, pid);
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

int play(story_t story, void *context)
{
    return end_of(start(story, context));
}

void kill_unnoticed(pid_t pid)
{
    kill(pid, SIGKILL);
    ck_assert_int_eq(end_of(pid), -SIGKILL);
}

void kill_noticed(pid_t pid)
{
    kill_unnoticed(pid);
    adm_child_ended(segment, pid);
}

/* The last of the shared words counts processes that stay. */
static atomic_uint *staying(void)
{
    return &shared[SHARED_WORDS - 1];
}

int stay(void)
{
    atomic_fetch_add(staying(), 1);
    for (;;) {
        pause();
    }
}

pid_t start_to_stay(story_t story, void *context)
{
    unsigned before = atomic_load(staying());
    pid_t pid = start(story, context);

    WAIT_FOR(atomic_load(staying()) != before);
    return pid;
}

static int enter_and_stay(void *count)
{
    static adm_ticket_t tickets[100]; /* more than a chunk */
    adm_child_t *other = join();
    unsigned n;

    for (n = 0; n < *(unsigned *)count; n++) {
        adm_outcome_t outcome = enter(other, zone, &tickets[n]);

        NEED(outcome == ADM_ADMITTED || outcome == ADM_WAITING);
    }
    return stay();
}

pid_t start_holder(unsigned count)
{
    return start_to_stay(enter_and_stay, &count);
}

static int hand_over_and_die(void *unused)
{
    adm_child_t *other = join();
    adm_ticket_t ticket;

    NEED(enter_as(other, zone, RUNS, adm_now(), &ticket) == ADM_ADMITTED);
    atomic_store(&shared[1], 1);
    NEED_SOON(atomic_load(&shared[0]) == 1);
    adm_fault_arm(ADM_FAULT_grant_unlocked, 1);
    leave(&ticket);
    return 0;
}

pid_t start_to_die_in_hand_over(void)
{
    pid_t pid = start(hand_over_and_die, NULL);

    WAIT_FOR(atomic_load(&shared[1]) == 1);
    return pid;
}

void play_together(unsigned count, story_t story)
{
    pid_t pids[8];
    unsigned n;

    ck_assert_uint_le(count, 8);
    for (n = 0; n < count; n++) {
        pids[n] = start(story, &n);
    }
    for (n = 0; n < count; n++) {
        ck_assert_int_eq(end_of(pids[n]), 0);
    }
}
