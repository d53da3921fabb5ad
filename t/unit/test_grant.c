/* test_grant.c - how a grant ends: it begins, or its waiter leaves. */
#include <pthread.h>

#include "core/adm_pool.h"
#include "test_hand_over.h"

WITH_FLOWS_TOO;

/* ---- the end of a grant that has not begun -------------------------------- */

TEST(a_request_that_leaves_with_an_unused_permit_was_not_admitted)
{
    make_children();
    park_in(one, 0);
    park_in(two, 1);
    hand_over();
    adm_ticket_cancel(&waiting[0], ADM_GONE, granted_at);
    waiting[0].child = NULL;
    assert_permit_is_with(1);
    ck_assert_uint_eq(stats_of(one, zone).figures.outcomes[ADM_GONE], 1);
    ck_assert_uint_eq(admitted(), 1);
}

TEST(a_timeout_after_the_grant_starts_the_request)
{
    make_children();
    park_in(one, 0);
    park_in(two, 1);
    hand_over();
    ck_assert_int_eq(adm_ticket_cancel(&waiting[0], ADM_TIMEOUT, granted_at), ADM_WAITED);
    look_after(10 * LEASE);
    assert_permit_is_with(0);
    ck_assert_uint_eq(admitted(), 2);
}

TEST(a_wait_ends_when_the_winner_starts)
{
    adm_zone_stats_t stats;
    adm_usec_t since;

    make_children();
    park_in(one, 0);
    since = rec_of_ticket(&waiting[0])->since_usec;
    hand_over();
    ck_assert_uint_eq(stats_of(one, zone).figures.outcomes[ADM_WAITED], 0);
    ck_assert(adm_ticket_begin(&waiting[0], granted_at + 5000));
    stats = stats_of(one, zone);
    ck_assert_uint_eq(stats.figures.outcomes[ADM_WAITED], 1);
    ck_assert_uint_eq(stats.figures.wait.sum_usec, granted_at + 5000 - since);
    /* Longer than the one before took, on whatever machine. */
    adm_ticket_release(&waiting[0], granted_at + 5000 + ADM_USEC_PER_SEC);
    stats = stats_of(one, zone);
    ck_assert_uint_eq(stats.figures.service.max_usec, ADM_USEC_PER_SEC);
    ck_assert_uint_eq(stats.figures.outcomes[ADM_WAITED], 1);
}

TEST(a_rebuild_derives_granted_and_started_tickets)
{
    adm_zone_rec_t *rec;

    make_children();
    park_in(one, 0);
    park_in(two, 1);
    hand_over();
    rec = rec_of_zone(zone);
    rec->granted_idx = 0;
    adm_pool_rebuild_locked(segment, rec);
    assert_permit_is_with(0);
    ck_assert(adm_ticket_begin(&waiting[0], granted_at + 5000));
    adm_pool_rebuild_locked(segment, rec);
    assert_permit_is_with(0);
    ck_assert_uint_eq(stats_of(one, zone).figures.outcomes[ADM_WAITED], 1);
    adm_pool_rebuild_locked(segment, rec);
    ck_assert_uint_eq(stats_of(one, zone).figures.outcomes[ADM_WAITED], 1);
}

TEST(a_corrupt_list_of_grants_is_rebuilt)
{
    make_children();
    park_in(one, 0);
    park_in(two, 1);
    hand_over();
    rec_of_zone(zone)->granted_idx = waiting[1].idx;
    look_after(LEASE);
    look_after(LEASE);
    assert_permit_is_with(1);
}

/* ---- two at once --------------------------------------------------------- */

static atomic_uint begun;

static void *begin_first(void *unused)
{
    if (adm_ticket_begin(&waiting[0], granted_at)) {
        atomic_fetch_add(&begun, 1);
    }
    return NULL;
}

/* The winner's child showed that it is alive while the next one was looked for. */
static void begin_if_it_came_straight_back(uint64_t passed_on_before)
{
    if (!atomic_load(&begun) && adm_ticket_is_granted(&waiting[0])) {
        ck_assert_uint_eq(passed_on(), passed_on_before + 1);
        begin_first(NULL);
        ck_assert_uint_eq(atomic_load(&begun), 1);
    }
}

TEST(either_the_winner_starts_or_the_permit_is_passed_on)
{
    pthread_t winner;
    uint64_t before;
    unsigned n;

    make_children();
    for (n = 0; n < 500; n++) {
        atomic_store(&begun, 0);
        park_in(one, 0);
        park_in(two, 1);
        hand_over();
        before = passed_on();
        ck_assert_int_eq(pthread_create(&winner, NULL, begin_first, NULL), 0);
        if (n % 2) {
            pause_briefly();
        }
        look_after(LEASE);
        pthread_join(winner, NULL);
        begin_if_it_came_straight_back(before);
        assert_permit_is_with(atomic_load(&begun) ? 0 : 1);
        leave(&waiting[0]);
        leave(&waiting[1]);
        ck_assert_int_eq(enter(one, zone, &inside), ADM_ADMITTED);
    }
}
