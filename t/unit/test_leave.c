/* test_leave.c - giving a permit back. */
#include <pthread.h>

#include "core/adm_child.h"
#include "test_support.h"

WITH_FLOWS_TOO;

static void *leave_in_thread(void *ticket)
{
    leave(ticket);
    return NULL;
}

TEST(of_many_threads_that_give_it_back_the_first_one_counts)
{
    enum { THREADS = 8, PERMITS = 200 };
    static adm_ticket_t inside[PERMITS];
    pthread_t threads[THREADS];
    unsigned round, n;

    stage(PERMITS, 1);
    enter_many(child, zone, inside, PERMITS, ADM_ADMITTED);
    for (round = 0; round < 20; round++) {
        for (n = 0; n < THREADS; n++) {
            pthread_create(&threads[n], NULL, leave_in_thread, &inside[round]);
        }
        for (n = 0; n < THREADS; n++) {
            pthread_join(threads[n], NULL);
        }
        ck_assert_uint_eq(active_in(zone), PERMITS - 1 - round);
    }
}

static int leave_in_fork(void *tickets)
{
    adm_ticket_t *both = tickets;

    leave(&both[0]);
    adm_ticket_cancel(&both[1], ADM_GONE, adm_now());
    NEED(!adm_child_is_self(both[0].child));
    NEED(!adm_child_is_registered_here());
    return 0;
}

TEST(a_forked_process_gives_nothing_back)
{
    adm_ticket_t tickets[2];

    stage(1, 1);
    ck_assert_int_eq(enter(child, zone, &tickets[0]), ADM_ADMITTED);
    ck_assert_int_eq(enter(child, zone, &tickets[1]), ADM_WAITING);
    ck_assert_int_eq(play(leave_in_fork, tickets), 0);
    ck_assert_uint_eq(active_in(zone), 1);
    ck_assert_uint_eq(queued_in(zone), 1);
    leave(&tickets[0]);
    ck_assert(adm_ticket_is_granted(&tickets[1]));
}
