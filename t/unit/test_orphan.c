/* test_orphan.c - permits that outlive their child with its program.
 *
 * The programs are cats (test_cat.h). Some are started by the child, as mod_cgi
 * does, some by a daemon, as mod_cgid does.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test_cat.h"
#include "test_support.h"

WITH_FLOWS_TOO;

static void make_zone(void)
{
    make_life_line();
    stage(1, 10);
}

/* The program, in the shared words. */
enum { STARTED };

/* One a second. */
static void make_rounds(int count)
{
    int round;

    for (round = 0; round < count; round++) {
        adm_round(child, adm_now() + round * ADM_USEC_PER_SEC, true);
    }
}

static void see_program_end(pid_t program)
{
    end_program();
    WAIT_FOR(!is_cat(program));
}

/* ---- the child is dead, its program lives -------------------------------- */

static int start_and_stay(void *unused)
{
    adm_ticket_t ticket;

    child = join();
    NEED(enter(child, zone, &ticket) == ADM_ADMITTED);
    atomic_store(&shared[STARTED], (unsigned)start_program(&ticket));
    return stay();
}

/* A child that is killed while its program runs. @return the program. */
static pid_t orphan_a_program(adm_usec_t bound)
{
    pid_t victim, program;

    make_zone();
    adm_segment_begin_load(segment);
    adm_segment_end_load(segment, 1000, bound);
    victim = start_to_stay(start_and_stay, NULL);
    program = (pid_t)atomic_load(&shared[STARTED]);
    WAIT_FOR(is_cat(program));
    kill_noticed(victim);
    adm_round(child, adm_now(), false);
    return program;
}

TEST(a_permit_outlives_its_child_with_the_program)
{
    adm_ticket_t waiting;
    pid_t program = orphan_a_program(3600 * ADM_USEC_PER_SEC);

    ck_assert_uint_eq(active_in(zone), 1);
    ck_assert_uint_eq(orphans_in(zone), 1);
    ck_assert_int_eq(enter(child, zone, &waiting), ADM_WAITING);
    make_rounds(5);
    ck_assert(!adm_ticket_is_granted(&waiting));
    ck_assert_ptr_null(adm_check(segment));

    see_program_end(program);
    make_rounds(3);
    ck_assert(adm_ticket_is_granted(&waiting));
    ck_assert_uint_eq(orphans_in(zone), 0);
}

/* Loop test: the bound is an hour, or 0. */
TESTS(a_program_keeps_the_permit_no_longer_than_the_bound, 0, 2)
{
    const adm_usec_t second = ADM_USEC_PER_SEC, bound = _i ? 0 : 3600 * second;
    adm_usec_t before = adm_now();
    pid_t program = orphan_a_program(bound);

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

/* The first fork of the parent; never a child of the segment. Starts a program
 * with the token given whenever told. */
static int be_daemon(void *unused)
{
    unsigned started = 0;

    end_program(); /* this process's copy of that end */
    signal(SIGCHLD, SIG_IGN);
    for (;;) {
        if (atomic_load(&shared[TO_START]) > started) {
            started++;
            atomic_store(&shared[STARTED], (unsigned)start_with_token(token_for_daemon()));
        }
        pause_briefly();
    }
    return 1;
}

/* @return the new process, which may not be a program yet. */
static pid_t tell_daemon(const adm_ticket_t *ticket)
{
    adm_program_token(ticket, token_for_daemon());
    atomic_store(&shared[STARTED], 0);
    atomic_fetch_add(&shared[TO_START], 1);
    while (atomic_load(&shared[STARTED]) == 0) {
        pause_briefly();
    }
    return (pid_t)atomic_load(&shared[STARTED]);
}

static pid_t start_by_daemon(const adm_ticket_t *ticket)
{
    pid_t pid = tell_daemon(ticket);

    while (!is_cat(pid)) {
        pause_briefly();
    }
    return pid;
}

static pid_t daemon_pid;

static void stage_with_daemon(uint32_t limit)
{
    make_life_line();
    daemon_pid = start(be_daemon, NULL);
    stage(limit, 1);
}

/* A request that is about to start a program. */
static adm_ticket_t ticket;

static void announce_with_a_daemon(void)
{
    stage_with_daemon(1);
    ck_assert_int_eq(enter(child, zone, &ticket), ADM_ADMITTED);
    adm_program_announce(&ticket, ADM_START_BY_TOKEN);
}

static pid_t noted_of(const adm_ticket_t *ticket)
{
    return (pid_t)adm_program_pid(atomic_load(&rec_of_ticket(ticket)->program));
}

static size_t environment_of(pid_t pid, char *text, size_t size)
{
    char path[64];
    FILE *file;
    size_t length;

    snprintf(path, sizeof(path), "/proc/%d/environ", (int)pid);
    file = fopen(path, "r");
    ck_assert_ptr_nonnull(file);
    length = fread(text, 1, size, file);
    fclose(file);
    return length;
}

static bool has_token(pid_t pid)
{
    char text[1024] = "";
    size_t length = 0;

    /* In exec a process has its new name before its environment. */
    WAIT_FOR((length = environment_of(pid, text, sizeof(text))) > 0);
    return memmem(text, length, ADM_TOKEN_VARIABLE, strlen(ADM_TOKEN_VARIABLE));
}

/* Loop test: its daemon lives, or is dead. */
TESTS(a_program_of_the_daemon_is_known_and_keeps_no_token, 0, 2)
{
    pid_t program;

    announce_with_a_daemon();
    program = start_by_daemon(&ticket);
    if (_i) {
        kill_unnoticed(daemon_pid);
    }
    ck_assert_int_eq(noted_of(&ticket), program);
    ck_assert(!has_token(program));
    ck_assert(!adm_program_has_ended(&ticket));
    ck_assert(adm_program_outlives_request(&ticket));
    see_program_end(program);
    ck_assert(adm_program_has_ended(&ticket));
    if (!_i) {
        kill_unnoticed(daemon_pid);
    }
}

/* As with suEXEC. Here the program keeps its user, and the child changes. */
TEST(a_program_of_another_user_is_known)
{
    pid_t program;

    if (getuid() != 0) {
        return; /* and cannot become another user */
    }
    announce_with_a_daemon();
    program = start_by_daemon(&ticket);
    ck_assert(setuid(65534) == 0); /* as children of httpd are */
    ck_assert(!adm_program_has_ended(&ticket));
    ck_assert(adm_program_outlives_request(&ticket));
    see_program_end(program);
    ck_assert(adm_program_has_ended(&ticket));
    ck_assert(!adm_program_outlives_request(&ticket));
}

TESTS(a_token_of_no_open_ticket_starts_nothing, 0, 2)
{
    adm_ticket_t next;
    pid_t program;

    announce_with_a_daemon();
    ck_assert(adm_program_has_ended(&ticket)); /* none has started */
    if (_i) {
        leave(&ticket);
        ck_assert_int_eq(enter(child, zone, &next), ADM_ADMITTED);
        ck_assert_uint_eq(next.idx, ticket.idx);
    }
    program = tell_daemon(&ticket);
    WAIT_FOR(kill(program, 0) != 0);
    if (_i) {
        ck_assert_int_eq(noted_of(&next), 0);
    }
    kill_unnoticed(daemon_pid);
}

TEST(the_program_of_another_request_is_not_taken_for_ours)
{
    adm_ticket_t other;

    stage_with_daemon(2);
    ck_assert_int_eq(enter(child, zone, &ticket), ADM_ADMITTED);
    ck_assert_int_eq(enter(child, zone, &other), ADM_ADMITTED);
    adm_program_announce(&ticket, ADM_START_BY_TOKEN);
    adm_program_announce(&other, ADM_START_BY_TOKEN);
    start_by_daemon(&other);
    ck_assert(adm_program_has_ended(&ticket));
    ck_assert(!adm_program_has_ended(&other));
    end_program();
    kill_unnoticed(daemon_pid);
}

static int announce_and_stay(void *unused)
{
    child = join();
    NEED(enter(child, zone, &ticket) == ADM_ADMITTED);
    adm_program_announce(&ticket, ADM_START_BY_TOKEN);
    start_by_daemon(&ticket);
    return stay();
}

/* Loop test: the daemon still lives, or is dead as well. */
TESTS(a_permit_outlives_its_child_with_the_daemons_program, 0, 2)
{
    adm_ticket_t waiting;
    pid_t victim, program;

    stage_with_daemon(1);
    victim = start_to_stay(announce_and_stay, NULL);
    program = (pid_t)atomic_load(&shared[STARTED]);
    kill_noticed(victim);
    if (_i) {
        kill_unnoticed(daemon_pid);
    }
    ck_assert_int_eq(enter(child, zone, &waiting), ADM_WAITING);
    make_rounds(5);
    ck_assert_uint_eq(orphans_in(zone), 1);
    ck_assert(!adm_ticket_is_granted(&waiting));
    see_program_end(program);
    adm_round(child, adm_now() + 5 * ADM_USEC_PER_SEC, true);
    ck_assert(adm_ticket_is_granted(&waiting));
    ck_assert_uint_eq(stats_of(child, zone).figures.reclaimed, 1);
    if (!_i) {
        kill_unnoticed(daemon_pid);
    }
}

static int announce_and_stay_only(void *how)
{
    child = join();
    NEED(enter(child, zone, &ticket) == ADM_ADMITTED);
    adm_program_token(&ticket, token_for_daemon());
    adm_program_announce(&ticket, *(adm_start_t *)how);
    return stay();
}

/* The daemon has the request, and the child that sent it is dead. */
TEST(a_program_that_starts_after_the_permit_is_released_does_not_run)
{
    adm_start_t how = ADM_START_BY_TOKEN;
    pid_t program;

    stage_with_daemon(1);
    kill_noticed(start_to_stay(announce_and_stay_only, &how));
    adm_round(child, adm_now(), true);
    ck_assert_uint_eq(active_in(zone), 0);
    atomic_fetch_add(&shared[TO_START], 1);
    WAIT_FOR(atomic_load(&shared[STARTED]) != 0);
    program = (pid_t)atomic_load(&shared[STARTED]);
    WAIT_FOR(kill(program, 0) != 0);
    kill_unnoticed(daemon_pid);
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

/* No child died, so no permit was reclaimed. */
TEST(an_abandoned_permit_is_not_counted_as_reclaimed)
{
    pid_t program;

    make_zone();
    ck_assert_int_eq(enter(child, zone, &ticket), ADM_ADMITTED);
    program = start_program(&ticket);
    WAIT_FOR(is_cat(program));
    adm_ticket_abandon(&ticket, adm_now());
    ck_assert_uint_eq(orphans_in(zone), 1);
    end_program();
    ck_assert_int_eq(end_of(program), 0);
    adm_round(child, adm_now(), true);
    ck_assert_uint_eq(orphans_in(zone), 0);
    ck_assert_uint_eq(stats_of(child, zone).figures.reclaimed, 0);
}
