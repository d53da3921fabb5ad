/* test_lease.c - permits that are handed over: used, or not used. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "test_story.h"

WITH_FLOWS_TOO;

/* A has the only permit, and two children. */
#define BUSY "zone 1 10; children 2; A in; "
/* B of the first and C of the second child wait for it. */
#define TWO BUSY "B parked; child 2 C parked; "
#define HANDED TWO "A leaves; has B; "
#define PASSED HANDED "wait 1L; look 2; has C; "

/* ---- the lease ----------------------------------------------------------- */

STORY(a_permit_that_is_not_used_is_passed_on_when_its_lease_is_over,
      HANDED "wait 99999us; look 2; has B; wait 1us; look 2; has C; waiting 1; passed-on 1;"
             "B lost; C begins");

STORY(a_permit_that_no_other_waiter_can_use_stays,
      BUSY "BC parked; A leaves; wait 1L; look 2; has B; wait 9L; look 2; has B; passed-on 0;"
           "B begins");

STORY(a_later_request_that_can_run_gets_it_immediately,
      BUSY "B parked; A leaves; wait 1L; child 2 C waits; has C");

STORY(any_visit_of_the_zone_passes_it_on, TWO "child 2 D parked; A leaves; wait 1L; D gone; has C");

STORY(where_winners_are_late_leases_are_longer,
      PASSED "room 1; wait 199999us; look 2; has C; wait 1us; look 2; has B; room 2;"
             "wait 299999us; look 2; has B; wait 1us; B begins; B leaves; room 1; B parked;"
             "wait 1L; look 2; has B; passed-on 3");

STORY(beyond_a_lowered_limit_nothing_is_handed_on,
      HANDED "limit 0; wait 1L; look 2; has -; active 0");

/* ---- order --------------------------------------------------------------- */

/* A worker comes, too late. */
STORY(a_request_that_lost_its_permit_keeps_its_position,
      TWO "child 2 D parked; A leaves; wait 1L; look 2; has C; B unparks; B lost; B parks;"
          "C leaves; has B");

STORY(a_silent_child_wins_nothing_while_another_can_run,
      BUSY "BC parked; child 2 DE parked; A leaves; wait 1L; look 2; has D; D leaves; has E;"
           "E leaves; has B; passed-on 1");

STORY(several_that_lost_their_permits_wait_in_their_order,
      BUSY "BCD parked; limit 3; round; A leaves; has BCD; child 2 EF waits; wait 1L; look 2;"
           "passed-on 2; active 3; waiting 2; has DEF");

/* ---- children without room --------------------------------------------------------- */

STORY(a_child_that_is_full_is_passed_over, TWO "no-room 1; A leaves; has C; passed-on 0");

STORY(a_full_child_passes_its_permit_on_immediately,
      HANDED "no-room 1; wait 1us; look 1; has C; passed-on 1");

STORY(a_blocked_request_of_a_full_child_can_run,
      BUSY "B parked; C waits; child 2 D parked; no-room 1; no-room 2; A leaves; has C");

STORY(a_full_child_is_better_than_a_silent_one,
      PASSED "no-room 2; child 2 D parked; C leaves; has D");

/* Neither can run, at first. */
STORY(a_child_that_has_room_again_gets_the_permit_that_stands_idle,
      TWO "no-room 2; A leaves; wait 1L; look 2; has B; C unparks; C begins; has C");

/* ---- watchers --------------------------------------------------------- */

STORY(a_guard_is_rung_once_per_lease,
      BUSY "BC parked; child 2 D parked; A leaves; rings 2 D; B begins; wait 50ms; B leaves;"
           "has C; rings 2 -");

/* The first bell is that of the grant. */
STORY(one_is_enough_and_not_of_the_winners_child,
      BUSY "B parked; A leaves; C parked; rings 1 B; rings 1 -; child 2 D parked; rings 2 D;"
           "child 2 E parked; rings 2 -");

STORY(a_grant_with_a_guard_wants_no_other,
      BUSY "B parked; child 2 C parked; A leaves; rings 2 C; child 2 D parked; rings 2 -");

TEST(a_guard_checks_until_another_would_be_rung)
{
    adm_usec_t until;

    tell(BUSY "BC parked; child 2 D parked; A leaves; B begins; active 1; passed-on 0");
    ck_assert_int_eq(rec_of_zone(zone)->lease_until, 0);
    until = adm_lease_check(request('D')->child, zone, story_now + 1);
    ck_assert_int_eq(until, rec_of_zone(zone)->guarded_until);
    ck_assert_int_gt(until, story_now);
    ck_assert_int_eq(adm_lease_check(request('D')->child, zone, until), 0);
}

STORY(a_blocked_waiter_checks_leases_itself,
      BUSY "B parked; child 2 blocks C waits; A leaves; has B; wait 1L; C ends; has C");

/* ---- the end of a grant: it begins, or is passed on -------------------------- */

STORY(a_timeout_after_the_grant_starts_the_request,
      HANDED "B kept; wait 10L; look 2; has B; admitted 2");

TEST(a_corrupt_list_of_grants_is_rebuilt)
{
    tell(HANDED);
    rec_of_zone(zone)->granted_idx = request('C')->idx;
    story_now += ADM_LEASE_USEC;
    adm_lease_check(request('C')->child, zone, story_now);
    tell("look 2; has C");
}

/* ---- two at once --------------------------------------------------------- */

static atomic_uint begun;

static void *begin_first(void *unused)
{
    if (adm_ticket_begin(request('B'), story_now)) {
        atomic_fetch_add(&begun, 1);
    }
    return NULL;
}

/* The winner's child showed that it is alive while the next one was looked for. */
static void begin_if_it_came_straight_back(uint64_t passed_on_before)
{
    if (!atomic_load(&begun) && adm_ticket_is_granted(request('B'))) {
        ck_assert_uint_eq(shown("passed-on"), passed_on_before + 1);
        begin_first(NULL);
        ck_assert_uint_eq(atomic_load(&begun), 1);
    }
}

TEST(either_the_winner_starts_or_the_permit_is_passed_on)
{
    pthread_t winner;
    uint64_t before;
    unsigned n;

    tell("zone 1 10; children 2");
    for (n = 0; n < 500; n++) {
        atomic_store(&begun, 0);
        tell("A in; B parked; child 2 C parked; A leaves");
        before = shown("passed-on");
        story_now = rec_of_zone(zone)->lease_until;
        ck_assert_int_eq(pthread_create(&winner, NULL, begin_first, NULL), 0);
        if (n % 2) {
            pause_briefly();
        }
        adm_lease_check(request('C')->child, zone, story_now);
        pthread_join(winner, NULL);
        begin_if_it_came_straight_back(before);
        tell(atomic_load(&begun) ? "has B; BC leaves" : "has C; BC leaves");
    }
}

/* ---- what holds in any order of events ------------------------------------------- */

enum { STORIES = 8, STEPS = 300, REQUESTS = 20 };

static unsigned dice;
static bool has_begun[REQUESTS];

static unsigned up_to(unsigned most)
{
    return (unsigned)rand_r(&dice) % (most + 1);
}

static bool is_inside(unsigned n)
{
    return atomic_load(&request('A' + n)->held);
}

/* Odd ones are of the second child: it begins what it is granted, the first one never
 * does. A request that has begun keeps its permit. */
static void begin_those_of_the_second(void)
{
    unsigned n;

    for (n = 0; n < REQUESTS; n++) {
        bool is_granted = is_inside(n) && adm_ticket_is_granted(request('A' + n));

        ck_assert(!is_inside(n) || !has_begun[n] || is_granted);
        if (n % 2 && is_granted && !has_begun[n]) {
            tell("%c begins", 'A' + n);
            has_begun[n] = true;
        }
    }
}

static void come_or_go(unsigned n)
{
    if (is_inside(n)) {
        tell("%c leaves", 'A' + n);
        return;
    }
    tell("child %u %c comes", n % 2 + 1, 'A' + n);
    has_begun[n] = is_inside(n)
                   && atomic_load(&rec_of_ticket(request('A' + n))->state) == ADM_TICKET_ACTIVE;
    if (is_inside(n) && !has_begun[n]) {
        tell("%c parks", 'A' + n);
    }
}

/* @return how many wait of a child, or have a permit that they do not use. */
static unsigned count(unsigned of_child, bool is_granted)
{
    unsigned n, sum = 0;

    for (n = of_child - 1; n < REQUESTS; n += 2) {
        sum += is_inside(n) && !has_begun[n]
               && adm_ticket_is_granted(request('A' + n)) == is_granted;
    }
    return sum;
}

/* The longest lease is ten times the usual one. */
TESTS(no_permit_stays_with_a_silent_child_while_another_can_run, 1, STORIES + 1)
{
    unsigned step, looks;

    dice = (unsigned)_i;
    memset(has_begun, 0, sizeof(has_begun));
    tell("zone 3 %u; children 2", REQUESTS - up_to(10));
    for (step = 0; step < STEPS; step++) {
        come_or_go(up_to(REQUESTS - 1));
        tell("wait %ums", up_to(60));
        begin_those_of_the_second();
        for (looks = 0; step % 10 == 0 && looks < 6; looks++) {
            tell("wait 10L; look 2");
            begin_those_of_the_second();
        }
        ck_assert(!looks || !count(1, true) || !count(2, false));
    }
    ck_assert_uint_gt(shown("passed-on"), 10);
}
