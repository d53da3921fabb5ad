/* test_grant.c - how a grant ends: it begins, or its waiter leaves. */
#include <pthread.h>

#include "core/adm_pool.h"
#include "test_story.h"

WITH_FLOWS_TOO;

#define TWO "zone 1 10; children 2; A in; B parked; child 2 C parked; "
#define HANDED TWO "A leaves; has B; "

/* ---- the end of a grant that has not begun -------------------------------- */

STORY(a_request_that_leaves_with_an_unused_permit_was_not_admitted,
      HANDED "B gone; has C; gone 1; admitted 1");

STORY(a_timeout_after_the_grant_starts_the_request,
      HANDED "B kept; wait 10L; look 2; has B; admitted 2");

STORY(a_wait_ends_when_the_winner_starts,
      HANDED "queued 0; wait 5ms; B begins; queued 1; waited-usec 5000; wait 1s; B leaves;"
             "longest-usec 1000000; queued 1");

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
