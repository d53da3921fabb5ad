/* test_doorbell.c - parked tickets and the bell that tells of their grants. */
#include <pthread.h>

#include "core/adm_doorbell.h"
#include "core/adm_hand_over.h"
#include "test_story.h"

static uint32_t slots[ADM_PARK_SLOTS + 1];

static adm_usec_t until_it_rings(void)
{
    return NEVER;
}

static uint32_t rung(uint32_t max)
{
    return adm_doorbell_wait(child, at_once, slots, max);
}

/* ---- the bell ------------------------------------------------------------ */

/* Every step-th slot rings. The slots are reported in their order, at most "room" per call.
 * Odd numbers leave words partly reported. */
static const struct {
    uint32_t step, room;
} rings[] = { { 1, 777 }, { 1, 1 }, { 63, 9 }, { 64, 2 }, { 4095, 3 } };

TESTS(each_slot_that_rang_is_reported_once, 0, COUNT(rings))
{
    const uint32_t step = rings[_i].step, room = rings[_i].room;
    uint32_t slot, count, n, next = 0;

    child = join();
    for (slot = 0; slot < ADM_PARK_SLOTS; slot += step) {
        adm_doorbell_ring_slot(segment, child->idx, slot);
        adm_doorbell_ring_slot(segment, child->idx, slot); /* is reported once */
    }
    while ((count = rung(room)) > 0) {
        ck_assert_uint_le(count, room);
        for (n = 0; n < count; n++, next += step) {
            ck_assert_uint_eq(slots[n], next);
        }
    }
    ck_assert_uint_ge(next, ADM_PARK_SLOTS);
}

TEST(impossible_slots_and_children_ring_nothing)
{
    child = join();
    adm_doorbell_ring_slot(segment, child->idx, ADM_PARK_SLOTS);
    adm_doorbell_ring_slot(segment, child->idx, UINT32_MAX);
    adm_doorbell_ring_slot(segment, 0, 1);
    adm_doorbell_ring_slot(segment, 9, 1);
    adm_doorbell_ring_slot(segment, UINT32_MAX, 1);
    ck_assert_uint_eq(rung(10), 0);
    ck_assert_uint_eq(atomic_load(&child->doorbell->rings), 0);
}

/* The deadline of a dispatcher. The test changes it between the dispatcher's check and its
 * sleep. */
static atomic_bool is_closing;

static adm_usec_t look_and_nap(void)
{
    adm_usec_t seen = atomic_load(&is_closing) ? 0 : NEVER;

    if (atomic_fetch_add(&shared[0], 1) == 0) {
        while (atomic_load(&shared[1]) == 0) { /* until the change has rung */
            pause_briefly();
        }
    }
    return seen;
}

static void *dispatch(void *unused)
{
    while (!atomic_load(&is_closing)) {
        adm_doorbell_wait(child, look_and_nap, slots, 10);
    }
    return NULL;
}

/* Loop test: a deadline changes (whatever it is, it is looked at again), or the end comes. */
TESTS(a_change_before_the_sleep_is_not_missed, 0, 2)
{
    pthread_t dispatcher;

    child = join();
    atomic_store(&is_closing, false);
    pthread_create(&dispatcher, NULL, dispatch, NULL);
    WAIT_FOR(atomic_load(&shared[0]) == 1);
    atomic_store(&is_closing, _i == 1);
    adm_doorbell_ring(child);
    atomic_store(&shared[1], 1);
    if (_i == 0) {
        WAIT_FOR(atomic_load(&shared[0]) >= 2);
        atomic_store(&is_closing, true);
        adm_doorbell_ring(child);
    }
    pthread_join(dispatcher, NULL);
}

/* ---- parked tickets ------------------------------------------------------ */

STORY(the_grant_of_a_parked_ticket_rings_its_slot,
      "zone 1 10; A in; BC parked; parked 2; rings 1 -; A leaves; rings 1 B; has B");

STORY(a_grant_that_came_before_the_parking_rings_too,
      "zone 1 10; A in; B waits; A leaves; B parks; rings 1 B");

STORY(an_unparked_ticket_rings_no_more,
      "zone 1 10; A in; B parked; B unparks; parked 0; B unparks; parked 0; A leaves; rings 1 -;"
      "B ends");

STORY(
    a_parked_ticket_that_is_cancelled_in_time_or_too_late_or_leaves_is_parked_no_more,
    "zone 1 10; A in; B parked; parked 1; B gone; parked 0; B parked; parked 1; B leaves; parked 0;"
    "B parked; parked 1; A leaves; B kept; parked 0");

TEST(a_ticket_used_again_does_not_ring_its_last_owners_slot)
{
    uint32_t idx;

    tell("zone 1 10; A in; B parked");
    idx = request('B')->idx;
    tell("B gone; C waits");
    ck_assert_uint_eq(request('C')->idx, idx);
    tell("A leaves; has C; rings 1 -");
}

/* A grant and a parking that meet: the slot rings in any case. */
enum { RACES = 3000 };

static int give_permits_back(void *unused)
{
    adm_child_t *other = join();
    adm_ticket_t ticket;
    unsigned n;

    for (n = 1; n <= RACES; n++) {
        NEED_SOON(atomic_load(&shared[1]) == n - 1);
        NEED(enter(other, zone, &ticket) == ADM_ADMITTED);
        atomic_store(&shared[0], n);
        while (queued_in(zone) == 0) {
        }
        leave(&ticket);
    }
    return 0;
}

TEST(a_grant_that_meets_the_parking_rings)
{
    pid_t other;
    adm_ticket_t ticket;
    unsigned n;

    stage(1, 1);
    other = start(give_permits_back, NULL);
    for (n = 1; n <= RACES; n++) {
        uint32_t slot = ADM_PARK_SLOTS - n, count;

        WAIT_FOR(atomic_load(&shared[0]) == n);
        ck_assert_int_eq(enter(child, zone, &ticket), ADM_WAITING);
        adm_ticket_park(&ticket, slot);
        do {
            count = adm_doorbell_wait(child, until_it_rings, slots, 1);
        } while (count == 0 || slots[0] != slot);
        ck_assert(adm_ticket_is_granted(&ticket));
        adm_ticket_unpark(&ticket);
        leave(&ticket);
        atomic_store(&shared[1], n);
    }
    ck_assert_int_eq(end_of(other), 0);
    tell("parked 0");
}

TEST(only_those_that_were_granted_are_woken)
{
    adm_wakes_t wakes = { .count = 1 };

    child = join();
    wakes.granted[0] = (adm_wake_t){ .ticket_idx = 1, .child_idx = child->idx, .bell = 1 };
    wakes.granted[1] = (adm_wake_t){ .ticket_idx = 2, .child_idx = child->idx, .bell = 2 };
    adm_hand_over_wake(segment, &wakes);
    ck_assert_uint_eq(rung(10), 1);
}
