/* test_orphan.c - permits that outlive their child with its program.
 *
 * The programs are cats (test_cat.h). Some are started by the child, as mod_cgi
 * does, some by a daemon, as mod_cgid does.
 */
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test_cat.h"
#include "test_support.h"

static adm_zone_t zone;
static adm_child_t *child;

static void make_zone(void)
{
    make_life_line();
    zone = zone_with(1, 10);
    child = join();
}

/* ---- the child is dead, its program lives -------------------------------- */

static int start_and_stay(void *unused)
{
    adm_ticket_t ticket;

    (void)unused;
    child = join();
    NEED(child != NULL);
    NEED(enter(child, zone, &ticket) == ADM_ADMITTED);
    atomic_store(&shared[1], (unsigned)start_program(&ticket));
    atomic_store(&shared[0], 1);
    return stay();
}

/* A child that is killed while its program runs. @return the program. */
static pid_t orphan_a_program(adm_usec_t bound)
{
    pid_t victim, program;

    make_zone();
    adm_segment_begin_load(segment);
    adm_segment_end_load(segment, 1000, bound);
    victim = start(start_and_stay, NULL);
    WAIT_FOR(atomic_load(&shared[0]) == 1);
    program = (pid_t)atomic_load(&shared[1]);
    WAIT_FOR(is_cat(program));
    kill_noticed(victim);
    adm_round(child, adm_now(), false);
    return program;
}

START_TEST(a_permit_outlives_its_child_with_the_program)
{
    adm_ticket_t waiting;
    pid_t program = orphan_a_program(3600 * ADM_USEC_PER_SEC);
    int round;

    ck_assert_uint_eq(active_in(zone), 1);
    ck_assert_uint_eq(orphans_in(zone), 1);
    ck_assert_int_eq(enter(child, zone, &waiting), ADM_WAITING);
    for (round = 0; round < 5; round++) {
        adm_round(child, adm_now() + round * ADM_USEC_PER_SEC, true);
    }
    ck_assert(!adm_ticket_is_granted(&waiting));
    ck_assert_ptr_null(adm_check(segment));

    end_program();
    WAIT_FOR(!is_cat(program));
    for (round = 0; round < 3; round++) {
        adm_round(child, adm_now() + round * ADM_USEC_PER_SEC, true);
    }
    ck_assert(adm_ticket_is_granted(&waiting));
    ck_assert_uint_eq(orphans_in(zone), 0);
    assert_segment_consistent();
}
END_TEST

START_TEST(a_program_keeps_the_permit_no_longer_than_the_bound)
{
    adm_usec_t before = adm_now();
    pid_t program = orphan_a_program(3600 * ADM_USEC_PER_SEC);

    adm_round(child, before + 3599 * ADM_USEC_PER_SEC, true);
    ck_assert_uint_eq(active_in(zone), 1);
    adm_round(child, adm_now() + 3600 * ADM_USEC_PER_SEC, true);
    ck_assert_uint_eq(active_in(zone), 0);
    ck_assert_uint_eq(orphans_in(zone), 0);
    ck_assert(is_cat(program));
    end_program();
    WAIT_FOR(!is_cat(program));
    assert_segment_consistent();
}
END_TEST

START_TEST(a_bound_of_zero_keeps_no_permit_for_a_program)
{
    pid_t program = orphan_a_program(0);

    adm_round(child, adm_now(), true);
    ck_assert_uint_eq(active_in(zone), 0);
    end_program();
    WAIT_FOR(!is_cat(program));
    assert_segment_consistent();
}
END_TEST

START_TEST(a_ticket_in_line_is_never_orphaned)
{
    adm_ticket_t inside;
    pid_t victim;

    make_zone();
    ck_assert_int_eq(enter(child, zone, &inside), ADM_ADMITTED);
    victim = fork();
    if (victim == 0) {
        adm_ticket_t waiting;

        child = join();
        enter(child, zone, &waiting);
        adm_program_announce(&waiting);
        atomic_store(shared, 1);
        stay();
    }
    WAIT_FOR(atomic_load(shared) == 1);
    kill_noticed(victim);
    adm_round(child, adm_now(), false);
    ck_assert_uint_eq(queued_in(zone), 0);
    ck_assert_uint_eq(orphans_in(zone), 0);
    assert_segment_consistent();
}
END_TEST

/* ---- a daemon starts the programs, as mod_cgid does ---------------------- */

enum { TO_START = 10, STARTED = 11, IS_SLOW = 12, IS_UP = 13, TOKEN_AT = 16 };

static char *token_for_daemon(void)
{
    return (char *)&shared[TOKEN_AT];
}

/* The first fork of the parent; never a child of the segment. Starts a program
 * with the token given whenever told. */
static int be_daemon(void *unused)
{
    unsigned started = 0;

    (void)unused;
    end_program(); /* this process's copy of that end */
    signal(SIGCHLD, SIG_IGN);
    atomic_store(&shared[IS_UP], 1);
    for (;;) {
        if (atomic_load(&shared[TO_START]) > started) {
            pid_t pid = fork();

            if (pid == 0) {
                become_cat(token_for_daemon());
            }
            started++;
            atomic_store(&shared[STARTED], (unsigned)pid);
        }
        pause_briefly();
    }
    return 1;
}

static pid_t start_by_daemon(const adm_ticket_t *ticket)
{
    adm_program_token(ticket, token_for_daemon());
    atomic_store(&shared[STARTED], 0);
    atomic_fetch_add(&shared[TO_START], 1);
    while (atomic_load(&shared[STARTED]) == 0) {
        pause_briefly();
    }
    while (!is_cat((pid_t)atomic_load(&shared[STARTED]))) {
        pause_briefly();
    }
    return (pid_t)atomic_load(&shared[STARTED]);
}

/* A request that is about to start a program. @return the daemon for that. */
static pid_t announce_beside_a_daemon(adm_ticket_t *ticket)
{
    pid_t daemon;

    make_life_line();
    daemon = start(be_daemon, NULL);
    zone = zone_with(1, 1);
    child = join();
    ck_assert_int_eq(enter(child, zone, ticket), ADM_ADMITTED);
    adm_program_announce(ticket);
    return daemon;
}

START_TEST(without_a_daemon_known_nothing_is_known)
{
    adm_ticket_t ticket;

    make_zone();
    ck_assert_int_eq(enter(child, zone, &ticket), ADM_ADMITTED);
    adm_program_announce(&ticket);
    ck_assert(!adm_program_has_ended(&ticket));
    assert_segment_consistent();
}
END_TEST

START_TEST(a_daemon_is_known_from_the_first_program_it_starts)
{
    adm_ticket_t ticket;
    pid_t daemon, program;

    make_life_line();
    daemon = start(be_daemon, NULL);
    zone = zone_with(1, 1);
    child = join();
    ck_assert_int_eq(enter(child, zone, &ticket), ADM_ADMITTED);
    ck_assert_int_eq(atomic_load(&segment->header->spawners[0].pid), 0);
    program = start_by_daemon(&ticket);
    ck_assert_int_eq(atomic_load(&segment->header->spawners[0].pid), daemon);
    end_program();
    WAIT_FOR(!is_cat(program));
    kill_unnoticed(daemon);
    assert_segment_consistent();
}
END_TEST

START_TEST(a_program_of_the_daemon_is_found_by_its_token)
{
    adm_ticket_t ticket;
    pid_t daemon, program;

    daemon = announce_beside_a_daemon(&ticket);
    program = start_by_daemon(&ticket);
    ck_assert(!adm_program_has_ended(&ticket));
    end_program();
    WAIT_FOR(!is_cat(program));
    ck_assert(adm_program_has_ended(&ticket));
    kill_unnoticed(daemon);
    assert_segment_consistent();
}
END_TEST

static void wait_for_zombie(pid_t pid)
{
    siginfo_t info;

    ck_assert_int_eq(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
}

/* httpd buries a dead daemon when it comes to it, up to a second later. */
START_TEST(a_daemon_not_yet_buried_says_nothing_of_its_programs)
{
    adm_ticket_t ticket;
    pid_t daemon, program;

    daemon = announce_beside_a_daemon(&ticket);
    program = start_by_daemon(&ticket);
    kill(daemon, SIGKILL);
    wait_for_zombie(daemon);
    ck_assert(is_cat(program));
    ck_assert(!adm_program_has_ended(&ticket));
    ck_assert(adm_program_outlives_request(&ticket));
    end_program();
    WAIT_FOR(!is_cat(program));
    ck_assert_int_eq(end_of(daemon), -SIGKILL);
    assert_segment_consistent();
}
END_TEST

/* Makes what a daemon forks wait until that is dead. Registered before the
 * module's own handlers, so it comes first. */
static void be_slow_after_fork(void)
{
    while (shared && atomic_load(&shared[IS_SLOW])) {
        pause_briefly();
    }
}

START_TEST(a_daemon_is_known_although_it_dies_as_soon_as_it_has_forked)
{
    adm_ticket_t ticket;
    pid_t daemon;

    daemon = announce_beside_a_daemon(&ticket);
    adm_program_token(&ticket, token_for_daemon());
    WAIT_FOR(atomic_load(&shared[IS_UP]) == 1);
    atomic_store(&shared[IS_SLOW], 1);
    atomic_store(&shared[TO_START], 1);
    WAIT_FOR(atomic_load(&shared[STARTED]) != 0);
    kill_unnoticed(daemon);
    ck_assert(adm_program_outlives_request(&ticket));
    atomic_store(&shared[IS_SLOW], 0);
    WAIT_FOR(is_cat((pid_t)atomic_load(&shared[STARTED])));
    ck_assert_int_eq(atomic_load(&segment->header->spawners[0].pid), daemon);
    ck_assert_int_eq(atomic_load(&segment->header->spawners[1].pid), 0);
    end_program();
    WAIT_FOR(!is_cat((pid_t)atomic_load(&shared[STARTED])));
    assert_segment_consistent();
}
END_TEST

/* What a daemon has forked and what is about to become the program of our
 * request, for as long as `IS_SLOW`. */
static pid_t fork_slowly(pid_t daemon, const adm_ticket_t *ticket)
{
    pid_t program;

    adm_program_token(ticket, token_for_daemon());
    WAIT_FOR(atomic_load(&shared[IS_UP]) == 1);
    atomic_store(&shared[IS_SLOW], 1);
    atomic_store(&shared[TO_START], 1);
    WAIT_FOR(atomic_load(&shared[STARTED]) != 0);
    program = (pid_t)atomic_load(&shared[STARTED]);
    ck_assert_int_eq(kill(daemon, 0), 0);
    return program;
}

/* Its daemon has closed all sockets and ends, or closed that of this request
 * and lives on: as long as the new process is its child, it says so itself. */
START_TEST(a_program_outlives_its_request_from_the_fork_on)
{
    adm_ticket_t ticket;
    pid_t daemon, program;

    daemon = announce_beside_a_daemon(&ticket);
    program = fork_slowly(daemon, &ticket);
    ck_assert(adm_program_outlives_request(&ticket));
    ck_assert(!adm_program_has_ended(&ticket));
    atomic_store(&shared[IS_SLOW], 0);
    WAIT_FOR(is_cat(program));
    ck_assert(adm_program_outlives_request(&ticket));
    end_program();
    WAIT_FOR(!is_cat(program));
    ck_assert(!adm_program_outlives_request(&ticket));
    kill_unnoticed(daemon);
    assert_segment_consistent();
}
END_TEST

static int announce_fork_slowly_and_stay(void *daemon)
{
    adm_ticket_t ticket;

    child = join();
    NEED(child != NULL);
    NEED(enter(child, zone, &ticket) == ADM_ADMITTED);
    adm_program_announce(&ticket);
    fork_slowly(*(pid_t *)daemon, &ticket);
    atomic_store(&shared[0], 1);
    return stay();
}

START_TEST(a_dead_daemons_fork_may_take_its_time_to_become_the_program)
{
    adm_ticket_t waiting;
    pid_t daemon, victim, program;
    int round;

    make_life_line();
    daemon = start(be_daemon, NULL);
    zone = zone_with(1, 1);
    child = join();
    victim = start(announce_fork_slowly_and_stay, &daemon);
    WAIT_FOR(atomic_load(&shared[0]) == 1);
    program = (pid_t)atomic_load(&shared[STARTED]);
    kill_noticed(victim);
    kill_unnoticed(daemon);
    ck_assert_int_eq(enter(child, zone, &waiting), ADM_WAITING);
    for (round = 0; round < 5; round++) {
        adm_round(child, adm_now() + round * ADM_USEC_PER_SEC, true);
    }
    ck_assert_uint_eq(orphans_in(zone), 1);
    ck_assert(!adm_ticket_is_granted(&waiting));
    atomic_store(&shared[IS_SLOW], 0);
    WAIT_FOR(is_cat(program));
    end_program();
    WAIT_FOR(!is_cat(program));
    for (round = 0; round < 3; round++) {
        adm_round(child, adm_now() + round * ADM_USEC_PER_SEC, true);
    }
    ck_assert(adm_ticket_is_granted(&waiting));
    assert_segment_consistent();
}
END_TEST

static int fork_once_and_stay(void *unused)
{
    pid_t pid;

    (void)unused;
    end_program();
    pid = fork();
    if (pid == 0) {
        _exit(0);
    }
    NEED(end_of(pid) == 0);
    atomic_fetch_add(&shared[0], 1);
    return stay();
}

START_TEST(a_daemon_that_is_no_longer_remembered_may_have_started_it)
{
    adm_ticket_t ticket;
    pid_t daemon, program, others[ADM_SPAWNERS];
    unsigned n;

    daemon = announce_beside_a_daemon(&ticket);
    adm_program_withdraw();
    program = start_by_daemon(&ticket);
    for (n = 0; n < ADM_SPAWNERS; n++) {
        others[n] = start(fork_once_and_stay, NULL);
        WAIT_FOR(atomic_load(&shared[0]) == n + 1);
        ck_assert(!adm_program_has_ended(&ticket));
        ck_assert(adm_program_outlives_request(&ticket));
    }
    end_program();
    WAIT_FOR(!is_cat(program));
    ck_assert(!adm_program_outlives_request(&ticket));
    for (n = 0; n < ADM_SPAWNERS; n++) {
        kill_unnoticed(others[n]);
    }
    kill_unnoticed(daemon);
    assert_segment_consistent();
}
END_TEST

START_TEST(the_program_of_another_request_is_not_taken_for_ours)
{
    adm_ticket_t ticket, other;
    pid_t daemon;

    make_life_line();
    daemon = start(be_daemon, NULL);
    zone = zone_with(2, 1);
    child = join();
    ck_assert_int_eq(enter(child, zone, &ticket), ADM_ADMITTED);
    ck_assert_int_eq(enter(child, zone, &other), ADM_ADMITTED);
    adm_program_announce(&ticket);
    start_by_daemon(&other);
    WAIT_FOR(adm_program_has_ended(&ticket)); /* once the other shows itself */
    end_program();
    kill_unnoticed(daemon);
    assert_segment_consistent();
}
END_TEST

static int announce_and_stay(void *unused)
{
    adm_ticket_t ticket;

    (void)unused;
    child = join();
    NEED(child != NULL);
    NEED(enter(child, zone, &ticket) == ADM_ADMITTED);
    adm_program_announce(&ticket);
    start_by_daemon(&ticket);
    atomic_store(&shared[0], 1);
    return stay();
}

/* Loop test: the daemon still lives, or is dead as well. */
START_TEST(a_permit_outlives_its_child_with_the_daemons_program)
{
    adm_ticket_t waiting;
    pid_t daemon, victim, program;
    int round;

    make_life_line();
    daemon = start(be_daemon, NULL);
    zone = zone_with(1, 1);
    child = join();
    victim = start(announce_and_stay, NULL);
    WAIT_FOR(atomic_load(&shared[0]) == 1);
    program = (pid_t)atomic_load(&shared[STARTED]);
    kill_noticed(victim);
    if (_i) {
        kill_unnoticed(daemon);
    }
    ck_assert_int_eq(enter(child, zone, &waiting), ADM_WAITING);
    for (round = 0; round < 5; round++) {
        adm_round(child, adm_now() + round * ADM_USEC_PER_SEC, true);
    }
    ck_assert_uint_eq(orphans_in(zone), 1);
    ck_assert(!adm_ticket_is_granted(&waiting));
    end_program();
    WAIT_FOR(!is_cat(program));
    for (round = 0; round < 3; round++) {
        adm_round(child, adm_now() + round * ADM_USEC_PER_SEC, true);
    }
    ck_assert(adm_ticket_is_granted(&waiting));
    if (!_i) {
        kill_unnoticed(daemon);
    }
    assert_segment_consistent();
}
END_TEST

/* The child was killed, its daemon has forked the program, but that has not
 * got as far as its own environment. Rounds may follow at once on each other:
 * there are as many as there are children. */
static int be_slow_program(void *unused)
{
    (void)unused;
    atomic_store(&shared[0], 1);
    while (atomic_load(&shared[1]) == 0) {
        pause_briefly();
    }
    become_cat(token_for_daemon());
    return 1;
}

static int announce_and_stay_only(void *unused)
{
    adm_ticket_t ticket;

    (void)unused;
    child = join();
    NEED(child != NULL);
    NEED(enter(child, zone, &ticket) == ADM_ADMITTED);
    adm_program_token(&ticket, token_for_daemon());
    adm_program_announce(&ticket);
    atomic_store(&shared[2], 1);
    return stay();
}

START_TEST(a_program_about_to_exec_is_given_time)
{
    pid_t victim, program;
    adm_usec_t now;
    int round;

    make_zone();
    victim = start(announce_and_stay_only, NULL);
    WAIT_FOR(atomic_load(&shared[2]) == 1);
    program = start(be_slow_program, NULL);
    WAIT_FOR(atomic_load(&shared[0]) == 1);
    kill_noticed(victim);
    now = adm_now();
    for (round = 0; round < 10; round++) {
        adm_round(child, now, true); /* ten children, at the same moment */
    }
    ck_assert_uint_eq(orphans_in(zone), 1);
    atomic_store(&shared[1], 1);
    WAIT_FOR(is_cat(program));
    end_program();
    ck_assert_int_eq(end_of(program), 0);
    assert_segment_consistent();
}
END_TEST

/* A program that runs as another user (suexec) does not show its environment:
 * it cannot be known whether it is ours. */
START_TEST(a_daemons_program_that_hides_its_environment_keeps_the_permit)
{
    pid_t daemon, victim, program;
    int round;

    make_life_line();
    daemon = start(be_daemon, NULL);
    zone = zone_with(1, 1);
    child = join();
    victim = start(announce_and_stay, NULL);
    WAIT_FOR(atomic_load(&shared[0]) == 1);
    program = (pid_t)atomic_load(&shared[STARTED]);
    kill_noticed(victim);
    ck_assert(setuid(65534) == 0); /* as children of httpd are */
    for (round = 0; round < 5; round++) {
        adm_round(child, adm_now() + round * ADM_USEC_PER_SEC, true);
    }
    ck_assert_uint_eq(orphans_in(zone), 1);
    end_program();
    WAIT_FOR(!is_cat(program));
    ck_assert_int_ne(daemon, 0);
    assert_segment_consistent();
}
END_TEST

static void add_stories(TCase *stories)
{
    tcase_add_test(stories, a_permit_outlives_its_child_with_the_program);
    tcase_add_test(stories,
                   a_program_keeps_the_permit_no_longer_than_the_bound);
    tcase_add_test(stories, a_bound_of_zero_keeps_no_permit_for_a_program);
    tcase_add_test(stories, a_ticket_in_line_is_never_orphaned);
    tcase_add_test(stories, without_a_daemon_known_nothing_is_known);
    tcase_add_test(stories, a_daemon_is_known_from_the_first_program_it_starts);
    tcase_add_test(stories, a_program_of_the_daemon_is_found_by_its_token);
    tcase_add_test(stories,
                   a_daemon_not_yet_buried_says_nothing_of_its_programs);
    tcase_add_test(stories,
                   a_daemon_is_known_although_it_dies_as_soon_as_it_has_forked);
    tcase_add_test(stories, a_program_outlives_its_request_from_the_fork_on);
    tcase_add_test(stories,
                   a_dead_daemons_fork_may_take_its_time_to_become_the_program);
    tcase_add_test(stories,
                   a_daemon_that_is_no_longer_remembered_may_have_started_it);
    tcase_add_test(stories,
                   the_program_of_another_request_is_not_taken_for_ours);
    tcase_add_loop_test(stories,
                        a_permit_outlives_its_child_with_the_daemons_program, 0,
                        2);
    tcase_add_test(stories, a_program_about_to_exec_is_given_time);
    if (getuid() == 0) { /* who else could become somebody else */
        tcase_add_test(
            stories,
            a_daemons_program_that_hides_its_environment_keeps_the_permit);
    }
}

int main(void)
{
    if (pthread_atfork(NULL, NULL, be_slow_after_fork) != 0) {
        return 1;
    }
    return run_stories("orphan", add_stories);
}
