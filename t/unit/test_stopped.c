/* test_stopped.c - permits of children that are stopped.
 *
 * The programs are cats (test_cat.h).
 */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test_cat.h"
#include "test_support.h"

static adm_zone_t zone;
static adm_child_t *child;
static adm_ticket_t waiter;
static pid_t holder, program;

/* Shared words: what a holder has found. */
enum { PROGRAM, STAGE, KEEPS, STARTED };

/* ---- who is stopped ------------------------------------------------------- */

static int hold(bool is_all, bool goes_on)
{
    adm_ticket_t ticket = { 0 }, next = { 0 };
    pid_t second;

    child = join();
    NEED(child != NULL);
    NEED(enter(child, zone, &ticket) == ADM_ADMITTED);
    atomic_store(&shared[PROGRAM],
                 (unsigned)(is_all ? start_only_program(&ticket)
                                   : start_program(&ticket)));
    end_program();
    if (goes_on) {
        NEED(adm_program_keep_permit(&ticket));
    }
    atomic_store(&shared[STAGE], 1);
    raise(SIGSTOP);

    atomic_store(&shared[KEEPS], adm_program_keep_permit(&ticket));
    second = start_program(&ticket);
    atomic_store(&shared[STARTED], end_of(second) == 0 && is_cat(second));
    leave(&ticket);
    leave(&ticket);
    NEED(enter(child, zone, &next) == ADM_WAITING);
    atomic_store(&shared[STAGE], 2);
    NEED(adm_ticket_wait(&next, NEVER) == ADM_WAITED);
    leave(&next);
    return 0;
}

static int hold_for_program(void *unused)
{
    (void)unused;
    return hold(true, false);
}

static int hold_for_more(void *unused)
{
    (void)unused;
    return hold(false, false);
}

static int hold_and_keep(void *unused)
{
    (void)unused;
    return hold(true, true);
}

static void wait_for_stop(pid_t pid)
{
    int status;

    ck_assert_int_eq(waitpid(pid, &status, WUNTRACED), pid);
    ck_assert(WIFSTOPPED(status));
}

/* A holder of the only permit is stopped while its program runs, and somebody
 * waits. */
static void stage(story_t story)
{
    make_life_line();
    zone = zone_with(1, 10);
    child = join();
    holder = start(story, NULL);
    WAIT_FOR(atomic_load(&shared[STAGE]) == 1);
    wait_for_stop(holder);
    program = (pid_t)atomic_load(&shared[PROGRAM]);
    WAIT_FOR(is_cat(program));
    ck_assert_int_eq(enter(child, zone, &waiter), ADM_WAITING);
}

static void look_around(void)
{
    for (int round = 0; round < 3; round++) {
        adm_round(child, adm_now() + round * ADM_USEC_PER_SEC, true);
    }
}

static void let_program_end(void)
{
    end_program();
    WAIT_FOR(!is_cat(program));
}

/* ---- what is taken -------------------------------------------------------- */

START_TEST(a_permit_is_taken_when_its_program_has_ended)
{
    stage(hold_for_program);
    look_around();
    ck_assert(!adm_ticket_is_granted(&waiter));
    let_program_end();
    look_around();
    ck_assert(adm_ticket_is_granted(&waiter));
    ck_assert_uint_eq(orphans_in(zone), 0);
    ck_assert_uint_eq(stats_of(child, zone).figures.reclaimed, 0);
    kill_noticed(holder);
    look_around();
    ck_assert_uint_eq(active_in(zone), 1);
    ck_assert_uint_eq(stats_of(child, zone).figures.reclaimed, 0);
    assert_segment_consistent();
}
END_TEST

START_TEST(who_goes_on_has_no_permit_and_starts_nothing)
{
    stage(hold_for_program);
    let_program_end();
    look_around();
    ck_assert(adm_ticket_begin(&waiter, adm_now()));
    kill(holder, SIGCONT);
    WAIT_FOR(atomic_load(&shared[STAGE]) == 2);
    ck_assert_uint_eq(atomic_load(&shared[KEEPS]), 0);
    ck_assert_uint_eq(atomic_load(&shared[STARTED]), 0);
    ck_assert_uint_eq(active_in(zone), 1);
    ck_assert_uint_eq(queued_in(zone), 1);
    ck_assert_ptr_null(adm_check(segment));
    leave(&waiter);
    ck_assert_int_eq(end_of(holder), 0);
    ck_assert_uint_eq(active_in(zone), 0);
    assert_segment_consistent();
}
END_TEST

/* ---- what is not ---------------------------------------------------------- */

static void assert_kept_by(story_t story)
{
    stage(story);
    let_program_end();
    look_around();
    ck_assert(!adm_ticket_is_granted(&waiter));
    ck_assert_uint_eq(active_in(zone), 1);
    kill_noticed(holder);
    look_around();
    ck_assert(adm_ticket_is_granted(&waiter));
    assert_segment_consistent();
}

START_TEST(a_permit_for_more_than_one_program_is_not_taken)
{
    assert_kept_by(hold_for_more);
}
END_TEST

START_TEST(a_permit_that_is_used_for_something_else_is_not_taken)
{
    assert_kept_by(hold_and_keep);
}
END_TEST

START_TEST(nothing_is_taken_from_a_child_that_runs)
{
    adm_ticket_t ticket = { 0 };

    make_life_line();
    zone = zone_with(1, 10);
    child = join();
    ck_assert_int_eq(enter(child, zone, &ticket), ADM_ADMITTED);
    program = start_only_program(&ticket);
    ck_assert_int_eq(enter(child, zone, &waiter), ADM_WAITING);
    WAIT_FOR(is_cat(program));
    let_program_end();
    look_around();
    ck_assert(!adm_ticket_is_granted(&waiter));
    leave(&ticket);
    ck_assert(adm_ticket_is_granted(&waiter));
    assert_segment_consistent();
}
END_TEST

static void add_stories(TCase *stories)
{
    tcase_add_test(stories, a_permit_is_taken_when_its_program_has_ended);
    tcase_add_test(stories, who_goes_on_has_no_permit_and_starts_nothing);
    tcase_add_test(stories, a_permit_for_more_than_one_program_is_not_taken);
    tcase_add_test(stories,
                   a_permit_that_is_used_for_something_else_is_not_taken);
    tcase_add_test(stories, nothing_is_taken_from_a_child_that_runs);
}

int main(void)
{
    return run_stories_twice("stopped", add_stories);
}
