/* test_reserve_blocking.c - how many may wait with a thread. */
#include "core/adm_worker.h"
#include "test_support.h"
#include "test_workers.h"

/* ---- how many threads of a child may block ------------------------------ */

/* No more than these, because somebody who was granted a permit lacks one. */
static void allow_blocked(uint32_t max)
{
    adm_worker_limit_blocked(child, max);
    adm_worker_lack(child, 1);
}

TEST(a_child_blocks_no_more_threads_than_it_may)
{
    adm_ticket_t first, second;

    make_zone(0, 10);
    allow_blocked(1);
    ck_assert_int_eq(ask(BLOCKS, &first), ADM_WAITING);
    ck_assert_int_eq(ask(BLOCKS, &second), ADM_RESERVE);
    ck_assert_uint_eq(queued_in(zone), 1);
    ck_assert_uint_eq(blocked(), 1);
    assert_workers(1);
    adm_ticket_cancel(&first, ADM_GONE, adm_now());
    ck_assert_int_eq(ask(BLOCKS, &second), ADM_WAITING);
}

/* It accepts no connections then, and other children do. */
TEST(a_child_blocks_all_threads_while_no_request_lacks_one)
{
    adm_ticket_t first, second;

    make_zone(0, 10);
    adm_worker_limit_blocked(child, 1);
    ck_assert_int_eq(ask(BLOCKS, &first), ADM_WAITING);
    ck_assert_int_eq(ask(BLOCKS, &second), ADM_WAITING);
    ck_assert_int_eq(adm_worker_occupy(child), ADM_WORKER_NONE);
    ck_assert(!adm_worker_must_yield(child));
    assert_workers(3);
    adm_worker_vacate(child);
    adm_ticket_cancel(&first, ADM_GONE, adm_now());
    adm_ticket_cancel(&second, ADM_GONE, adm_now());
    assert_workers(0);
}

TEST(for_each_that_lacks_a_thread_one_is_given_up)
{
    adm_ticket_t first, second, third;

    make_zone(0, 10);
    adm_worker_limit_blocked(child, 1);
    ck_assert_int_eq(ask(BLOCKS, &first), ADM_WAITING);
    ck_assert_int_eq(ask(BLOCKS, &second), ADM_WAITING);
    ck_assert_int_eq(ask(BLOCKS, &third), ADM_WAITING);
    adm_worker_lack(child, 1);
    ck_assert(adm_worker_must_yield(child));
    ck_assert(!adm_worker_must_yield(child)); /* another one does */
    adm_ticket_cancel(&second, ADM_RESERVE, adm_now());
    adm_worker_lack(child, 2);
    ck_assert(adm_worker_must_yield(child));
    adm_ticket_cancel(&first, ADM_RESERVE, adm_now());
    /* This one it may block, whoever lacks a thread. */
    ck_assert(!adm_worker_must_yield(child));
    adm_ticket_cancel(&third, ADM_GONE, adm_now());
    assert_workers(0);
}

/* A burst of those who are about to be parked takes nobody's room. */
TEST(a_worker_that_just_asks_stands_for_no_connections)
{
    adm_ticket_t inside, first, second;

    make_zone(1, 10);
    adm_worker_limit_connections(child, 4, 4, 3);
    ck_assert_int_eq(ask(RUNS, &inside), ADM_ADMITTED);
    ck_assert(adm_worker_take(child, false));
    ck_assert(adm_worker_has_room(child));
    adm_worker_return(child);
    ck_assert_int_eq(ask(PARKS, &first), ADM_WAITING);
    adm_ticket_park(&first, 0);
    ck_assert(!adm_worker_has_room(child));
    adm_ticket_release(&inside, adm_now());
    adm_ticket_unpark(&first);
    ck_assert_uint_eq(atomic_load(&child->rec->workers_settled), 1);
    ck_assert_int_eq(ask(PARKS, &second), ADM_WAITING);
    adm_ticket_cancel(&second, ADM_GONE, adm_now());
    adm_ticket_release(&first, adm_now());
    ck_assert_uint_eq(atomic_load(&child->rec->workers_settled), 0);
    assert_workers(0);
}

TEST(a_child_that_accepts_no_connections_reserves_no_slots)
{
    adm_ticket_t first, second;

    make_zone(0, 10);
    adm_worker_limit_connections(child, 4, 4, 3);
    ck_assert_int_eq(ask(BLOCKS, &first), ADM_WAITING);
    ck_assert_int_eq(ask(PARKS, &second), ADM_WAITING);
    adm_worker_accept_no_more(child);
    ck_assert(adm_worker_has_room(child));
    ck_assert_int_eq(adm_ticket_block(&second, adm_now()), ADM_WAITING);
    ck_assert(adm_worker_has_room(child));
    assert_workers(2);
}

TEST(nor_a_worker)
{
    adm_ticket_t first, second;

    make_zone(0, 10);
    set_worker_cap(1);
    ck_assert_int_eq(ask(BLOCKS, &first), ADM_WAITING);
    ck_assert(!adm_worker_take(child, false));
    adm_worker_accept_no_more(child);
    ck_assert_int_eq(ask(PARKS, &second), ADM_WAITING);
    ck_assert_int_eq(adm_ticket_block(&second, adm_now()), ADM_WAITING);
    assert_workers(2);
}

TEST(a_request_that_cannot_park_does_not_block_the_last_thread)
{
    adm_ticket_t first, second;

    make_zone(0, 10);
    allow_blocked(1);
    ck_assert_int_eq(ask(BLOCKS, &first), ADM_WAITING);
    ck_assert_int_eq(ask(PARKS, &second), ADM_WAITING);
    ck_assert_int_eq(adm_ticket_block(&second, adm_now()), ADM_PARKING);
    ck_assert_uint_eq(queued_in(zone), 1);
    ck_assert_uint_eq(blocked(), 1);
    assert_workers(1);
}

TEST(a_blocked_thread_of_another_pool_takes_no_worker)
{
    adm_ticket_t elsewhere, here;

    make_zone(0, 10);
    allow_blocked(1);
    ck_assert_int_eq(ask(BLOCKS_ELSEWHERE, &elsewhere), ADM_WAITING);
    ck_assert_int_eq(ask(BLOCKS, &here), ADM_WAITING);
    ck_assert_uint_eq(blocked(), 2);
    ck_assert_uint_eq(workers_blocked(), 1);
    adm_ticket_cancel(&elsewhere, ADM_GONE, adm_now());
    ck_assert_uint_eq(blocked(), 1);
    ck_assert_uint_eq(workers_blocked(), 1);
    adm_ticket_cancel(&here, ADM_GONE, adm_now());
    ck_assert_uint_eq(workers_blocked(), 0);
}

TEST(a_request_granted_before_its_rejection_runs)
{
    adm_ticket_t first, second, inside;

    make_zone(1, 1);
    ck_assert_int_eq(ask(RUNS, &inside), ADM_ADMITTED);
    ck_assert_int_eq(ask(PARKS, &first), ADM_WAITING);
    ck_assert_int_eq(ask(PARKS, &second), ADM_WAITING);
    allow_blocked(0);
    ck_assert_int_eq(adm_ticket_block(&second, adm_now()), ADM_PARKING);
    adm_ticket_release(&inside, adm_now());
    ck_assert(adm_ticket_is_granted(&first));
    ck_assert_int_eq(adm_ticket_block(&first, adm_now()), ADM_WAITING);
    ck_assert(adm_ticket_is_granted(&first));
    assert_workers(1);
    adm_ticket_release(&first, adm_now());
    assert_workers(0);
}

/* A server that accepts 3 connections fewer for each busy worker, and has 10. */
TEST(blocked_requests_leave_the_server_its_connections)
{
    adm_ticket_t parked[4], blocked_ones[2], one_more;
    int i;

    make_zone(0, 10);
    adm_worker_limit_connections(child, 10, 10, 3);
    for (i = 0; i < 4; i++) {
        ck_assert_int_eq(ask(PARKS, &parked[i]), ADM_WAITING);
        adm_ticket_park(&parked[i], (uint32_t)i);
    }
    ck_assert_int_eq(ask(BLOCKS, &blocked_ones[0]), ADM_WAITING);
    ck_assert_int_eq(ask(BLOCKS, &blocked_ones[1]), ADM_WAITING);
    ck_assert(!adm_worker_has_room(child));
    ck_assert_uint_eq(atomic_load(&child->rec->workers_settled), 2);
    ck_assert_int_eq(ask(BLOCKS, &one_more), ADM_PARKING);
    assert_workers(2);
    /* Nor who wanted to be parked and cannot be. */
    ck_assert_int_eq(ask(PARKS, &one_more), ADM_WAITING);
    ck_assert_int_eq(adm_ticket_block(&one_more, adm_now()), ADM_PARKING);
    for (i = 0; i < 3; i++) {
        adm_ticket_cancel(&parked[i], ADM_GONE, adm_now());
    }
    ck_assert_int_eq(ask(BLOCKS, &one_more), ADM_WAITING);
    /* HTTP/2 has threads of its own. */
    ck_assert_int_eq(ask(BLOCKS_ELSEWHERE, &parked[0]), ADM_WAITING);
}

static int park_three_and_stay(void *generation)
{
    adm_ticket_t tickets[3];
    int i;

    child = join();
    atomic_store(&child->rec->generation, (uint32_t) * (const int *)generation);
    for (i = 0; i < 3; i++) {
        NEED(ask(PARKS, &tickets[i]) == ADM_WAITING);
        adm_ticket_park(&tickets[i], (uint32_t)i);
    }
    atomic_store(shared, 1);
    return stay();
}

/* A child may use what others of its generation leave. Loop test: the other
 * child is of this generation, or of an older one that accepts no more. */
TESTS(a_child_beyond_its_own_budget_has_that_of_the_server, 0, 2)
{
    adm_ticket_t tickets[6];
    int room = _i ? 6 : 3, generation, i;

    make_zone(0, 10);
    adm_worker_limit_connections(child, 2, 6, 3);
    generation = (int)atomic_load(&child->rec->generation) - _i;
    start(park_three_and_stay, &generation);
    WAIT_FOR(atomic_load(shared) == 1);
    for (i = 0; i < room; i++) {
        ck_assert(adm_worker_has_room(child));
        ck_assert_int_eq(ask(PARKS, &tickets[i]), ADM_WAITING);
        adm_ticket_park(&tickets[i], (uint32_t)i);
    }
    ck_assert(!adm_worker_has_room(child));
    for (i = 0; i < room; i++) {
        adm_ticket_cancel(&tickets[i], ADM_GONE, adm_now());
    }
}

/* ---- a worker that requests share ---------------------------------------- */

TEST(a_shared_worker_counts_like_others)
{
    adm_ticket_t ticket, other;

    make_zone(10, 2);
    ck_assert_int_eq(adm_worker_occupy(child), ADM_WORKER_NONE);
    assert_workers(1);
    ck_assert_uint_eq(workers_blocked(), 0);
    ck_assert_int_eq(ask(RUNS, &ticket), ADM_ADMITTED);
    ck_assert_int_eq(ask(RUNS, &other), ADM_RESERVE);
    ck_assert_int_eq(adm_worker_occupy(child), ADM_WORKER_DENIED);
    assert_workers(2);
    adm_worker_vacate(child);
    assert_workers(1);
    leave(&ticket);
    assert_workers(0);
}

/* So somebody who is parked finds a thread when it is granted a permit. */
TEST(a_child_shares_and_blocks_no_more_threads_than_it_may)
{
    adm_ticket_t ticket, other;

    make_zone(0, 10);
    allow_blocked(2);
    ck_assert_int_eq(adm_worker_occupy(child), ADM_WORKER_NONE);
    ck_assert_int_eq(ask(BLOCKS, &ticket), ADM_WAITING);
    ck_assert_int_eq(ask(BLOCKS, &other), ADM_RESERVE);
    ck_assert_int_eq(adm_worker_occupy(child), ADM_WORKER_DENIED);
    assert_workers(2);
    adm_worker_vacate(child);
    ck_assert_int_eq(ask(BLOCKS, &other), ADM_WAITING);
    ck_assert_int_eq(adm_worker_occupy(child), ADM_WORKER_DENIED);
    adm_ticket_cancel(&ticket, ADM_GONE, adm_now());
    ck_assert_int_eq(adm_worker_occupy(child), ADM_WORKER_NONE);
    adm_ticket_cancel(&other, ADM_GONE, adm_now());
    adm_worker_vacate(child);
    assert_workers(0);
    ck_assert_uint_eq(atomic_load(&child->rec->workers_shared), 0);
}

/* A server that accepts 3 connections fewer for each busy worker, and has 6. */
TEST(a_shared_worker_leaves_the_server_its_connections)
{
    adm_ticket_t parked;
    const adm_entry_t stream = { .worker = ADM_WORKER_NO_ROOM,
                                 .wait = ADM_WAIT_BLOCKED,
                                 .queue_length = 10 };

    make_zone(0, 10);
    adm_worker_limit_connections(child, 6, 6, 3);
    ck_assert_int_eq(adm_worker_occupy(child), ADM_WORKER_NONE);
    ck_assert_int_eq(ask(PARKS, &parked), ADM_WAITING);
    adm_ticket_park(&parked, 0);
    ck_assert_int_eq(adm_worker_occupy(child), ADM_WORKER_NO_ROOM);
    assert_workers(1);
    adm_ticket_cancel(&parked, ADM_GONE, adm_now());
    ck_assert_int_eq(adm_worker_occupy(child), ADM_WORKER_NONE);
    ck_assert_int_eq(ask(stream, &parked), ADM_PARKING);
    adm_worker_vacate(child);
    adm_worker_vacate(child);
    ck_assert_uint_eq(atomic_load(&child->rec->workers_settled), 0);
    assert_workers(0);
}
