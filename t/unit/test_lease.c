/* test_lease.c - permits that are handed over: used, or not used. */
#include <pthread.h>

#include "test_story.h"

WITH_FLOWS_TOO;

/* A has the only permit, and two children. */
#define BUSY "zone 1 10; children 2; A in; "
/* B of the first and C of the second child wait for it. */
#define TWO BUSY "B parked; child 2 C parked; "
#define HANDED TWO "A leaves; has B; "
#define PASSED HANDED "wait 1L; look 2; has C; "

/* ---- the lease ----------------------------------------------------------- */

STORY(a_permit_that_no_other_waiter_can_use_stays,
      BUSY "BC parked; A leaves; wait 1L; look 2; has B; wait 9L; look 2; has B; passed-on 0;"
           "B begins");

STORY(where_winners_are_late_leases_are_longer,
      PASSED "room 1; wait 199999us; look 2; has C; wait 1us; look 2; has B; room 2;"
             "wait 299999us; look 2; has B; wait 1us; B begins; B leaves; room 1; B parked;"
             "wait 1L; look 2; has B; passed-on 3");

/* ---- children without room --------------------------------------------------------- */

STORY(a_full_child_passes_its_permit_on_immediately,
      HANDED "no-room 1; wait 1us; look 1; has C; passed-on 1");

STORY(a_full_child_is_better_than_a_silent_one,
      PASSED "no-room 2; child 2 D parked; C leaves; has D");

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
