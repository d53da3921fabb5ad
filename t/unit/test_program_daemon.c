/* test_program_daemon.c - programs of a daemon, as of mod_cgid, and permits that outlive their
 * child with a program.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <apr_strings.h>

#include "core/adm_environ.h"
#include "test_programs.h"

WITH_FLOWS_TOO;

/* ---- the child is dead, its program lives -------------------------------- */

/* The program, in the shared words. */
enum { STARTED };

static int start_and_stay(void *unused)
{
    child = join();
    NEED(enter(child, zone, &ticket) == ADM_ADMITTED);
    atomic_store(&shared[STARTED], (unsigned)start_program());
    return stay();
}

/* Loop test: the bound is an hour, or 0. */
TESTS(a_program_keeps_the_permit_no_longer_than_the_bound, 0, 2)
{
    const adm_usec_t second = ADM_USEC_PER_SEC, bound = _i ? 0 : 3600 * second;
    adm_usec_t before = adm_now();
    pid_t victim, program;

    make_zone();
    adm_segment_begin_load(segment);
    adm_segment_end_load(segment, 1000, bound);
    victim = start_to_stay(start_and_stay, NULL);
    program = (pid_t)atomic_load(&shared[STARTED]);
    WAIT_FOR(is_cat(program));
    kill_noticed(victim);
    adm_round(child, adm_now(), false);
    if (bound) {
        adm_round(child, before + bound - second, true);
        ck_assert_uint_eq(active_in(zone), 1);
    }
    adm_round(child, adm_now() + bound, true);
    ck_assert_uint_eq(active_in(zone), 0);
    ck_assert_uint_eq(orphans_in(zone), 0);
    ck_assert(is_cat(program));
    see_program_end(program);
}

static int announce_too_early(void *unused)
{
    adm_ticket_t waiting;

    NEED(enter(join(), zone, &waiting) == ADM_WAITING);
    adm_program_announce(&waiting, ADM_START_HERE);
    return stay();
}

TEST(a_waiting_ticket_is_never_orphaned)
{
    adm_ticket_t inside;

    make_zone();
    ck_assert_int_eq(enter(child, zone, &inside), ADM_ADMITTED);
    kill_noticed(start_to_stay(announce_too_early, NULL));
    adm_round(child, adm_now(), false);
    ck_assert_uint_eq(queued_in(zone), 0);
    ck_assert_uint_eq(orphans_in(zone), 0);
}

/* ---- a daemon starts the programs, as mod_cgid does ---------------------- */

enum { TO_START = 1, TOKEN_AT = 16 };

static char *token_for_daemon(void)
{
    return (char *)&shared[TOKEN_AT];
}

/* Fork with the token in the environment of what is started. */
static pid_t start_with_token(const char *token)
{
    char **environment = apr_pcalloc(pool, 4 * sizeof(*environment));
    pid_t pid;

    environment[0] = "PATH=/usr/bin:/bin";
    environment[1] = "=of no name"; /* .htaccess may have it */
    environment[2] = apr_pstrcat(pool, ADM_TOKEN_VARIABLE "=", token, NULL);
    pid = fork();
    if (pid == 0) {
        become_cat(environment);
    }
    return pid;
}

/* The first fork of the parent; never a child of the segment. Starts a program
 * with the token given whenever told. */
static int be_daemon(void *unused)
{
    pid_t parent = getppid();
    unsigned started = 0;

    end_program(); /* this process's copy of that end */
    signal(SIGCHLD, SIG_IGN);
    while (getppid() == parent) {
        if (atomic_load(&shared[TO_START]) > started) {
            started++;
            atomic_store(&shared[STARTED], (unsigned)start_with_token(token_for_daemon()));
        }
        pause_briefly();
    }
    return 0;
}

/* @return the new process, which may not be a program yet. */
static pid_t tell_daemon(void)
{
    atomic_store(&shared[STARTED], 0);
    atomic_fetch_add(&shared[TO_START], 1);
    WAIT_FOR(atomic_load(&shared[STARTED]) != 0);
    return (pid_t)atomic_load(&shared[STARTED]);
}

static pid_t start_by_daemon(void)
{
    pid_t pid = tell_daemon();

    WAIT_FOR(is_cat(pid));
    return pid;
}

static pid_t daemon_pid;

static void stage_with_daemon(uint32_t limit)
{
    make_life_line();
    daemon_pid = start(be_daemon, NULL);
    stage(limit, 1);
}

static void announce(adm_start_t how)
{
    adm_program_token(&ticket, token_for_daemon());
    adm_program_announce(&ticket, how);
}

static void announce_a_program(void)
{
    ck_assert_int_eq(enter(child, zone, &ticket), ADM_ADMITTED);
    announce(ADM_START_BY_TOKEN);
}

static bool has_token(pid_t pid)
{
    const char *path = apr_psprintf(pool, "/proc/%d/environ", (int)pid);
    char text[1024];
    size_t length = 0;

    /* In exec a process has its new name before its environment. */
    while (length == 0) {
        FILE *file = fopen(path, "r");

        ck_assert_ptr_nonnull(file);
        length = fread(text, 1, sizeof(text), file);
        fclose(file);
    }
    return memmem(text, length, ADM_TOKEN_VARIABLE, strlen(ADM_TOKEN_VARIABLE));
}

/* Loop test: its daemon lives; is dead; or the program has another user than the child, as with
 * suEXEC. Here the program keeps its user, and the child changes. */
TESTS(a_program_of_the_daemon_is_known_and_keeps_no_token, 0, 3)
{
    pid_t program;

    if (_i == 2 && getuid() != 0) {
        return; /* and cannot become another user */
    }
    stage_with_daemon(1);
    announce_a_program();
    program = start_by_daemon();
    ck_assert_int_eq(noted(&ticket), program);
    ck_assert(!has_token(program));
    if (_i == 1) {
        kill_unnoticed(daemon_pid);
    }
    if (_i == 2) {
        ck_assert(setuid(65534) == 0); /* as children of httpd are */
    }
    ck_assert(!adm_program_has_ended(&ticket));
    ck_assert(adm_program_outlives_request(&ticket));
    see_program_end(program);
    ck_assert(adm_program_has_ended(&ticket));
    ck_assert(!adm_program_outlives_request(&ticket));
}

static int announce_and_stay_only(void *how)
{
    child = join();
    NEED(enter(child, zone, &ticket) == ADM_ADMITTED);
    announce(*(adm_start_t *)how);
    return stay();
}

/* Loop test: the ticket was found without a program; another request has it; its child is
 * dead, and the daemon has the request. */
TESTS(a_token_of_no_open_ticket_starts_nothing, 0, 3)
{
    adm_start_t how = ADM_START_BY_TOKEN;
    adm_ticket_t next;
    pid_t program;

    stage_with_daemon(1);
    if (_i == 2) {
        kill_noticed(start_to_stay(announce_and_stay_only, &how));
        adm_round(child, adm_now(), true);
        ck_assert_uint_eq(active_in(zone), 0);
    }
    else {
        announce_a_program();
        ck_assert(adm_program_has_ended(&ticket)); /* none has started */
    }
    if (_i == 1) {
        leave(&ticket);
        ck_assert_int_eq(enter(child, zone, &next), ADM_ADMITTED);
        ck_assert_uint_eq(next.idx, ticket.idx);
    }
    program = tell_daemon();
    WAIT_FOR(kill(program, 0) != 0);
    ck_assert(_i != 1 || noted(&next) == 0);
}

TEST(the_program_of_another_request_is_not_taken_for_ours)
{
    adm_ticket_t other;

    stage_with_daemon(2);
    announce_a_program();
    other = ticket;
    announce_a_program();
    start_by_daemon();
    ck_assert(adm_program_has_ended(&other));
    ck_assert(!adm_program_has_ended(&ticket));
    end_program();
}

static int announce_and_stay(void *unused)
{
    child = join();
    NEED(enter(child, zone, &ticket) == ADM_ADMITTED);
    announce(ADM_START_BY_TOKEN);
    start_by_daemon();
    return stay();
}

/* Loop test: the child has started the program; a daemon has, which lives; or is dead, too. */
TESTS(a_permit_outlives_its_child_with_the_program, 0, 3)
{
    adm_ticket_t waiting;
    pid_t victim, program;
    int round;

    stage_with_daemon(1);
    victim = start_to_stay(_i ? announce_and_stay : start_and_stay, NULL);
    program = (pid_t)atomic_load(&shared[STARTED]);
    WAIT_FOR(is_cat(program));
    kill_noticed(victim);
    if (_i == 2) {
        kill_unnoticed(daemon_pid);
    }
    ck_assert_int_eq(enter(child, zone, &waiting), ADM_WAITING);
    for (round = 0; round < 5; round++) {
        adm_round(child, adm_now() + round * ADM_USEC_PER_SEC, true);
    }
    ck_assert_uint_eq(active_in(zone), 1);
    ck_assert_uint_eq(orphans_in(zone), 1);
    ck_assert(!adm_ticket_is_granted(&waiting));
    assert_segment_consistent();
    see_program_end(program);
    adm_round(child, adm_now() + 5 * ADM_USEC_PER_SEC, true);
    ck_assert(adm_ticket_is_granted(&waiting));
    ck_assert_uint_eq(orphans_in(zone), 0);
    ck_assert_uint_eq(stats_of(child, zone).figures.reclaimed, 1);
}

TEST(a_program_without_a_pid_keeps_the_permit_for_ten_seconds)
{
    adm_start_t how = ADM_START_UNSEEN;
    adm_usec_t before = adm_now();

    make_zone();
    kill_noticed(start_to_stay(announce_and_stay_only, &how));
    adm_round(child, before + 9 * ADM_USEC_PER_SEC, true);
    ck_assert_uint_eq(orphans_in(zone), 1);
    adm_round(child, before + 19 * ADM_USEC_PER_SEC, true);
    ck_assert_uint_eq(orphans_in(zone), 0);
}
