/* test_hand_over.c - two children, and a permit that goes from hand to hand. */
#include "test_hand_over.h"

adm_child_t *one, *two;
adm_ticket_t inside, waiting[WAITERS];
adm_usec_t granted_at;

void make_children(void)
{
    memset(waiting, 0, sizeof(waiting));
    zone = zone_called("busy", 1, 10);
    one = join();
    two = join();
    ck_assert_int_eq(enter(one, zone, &inside), ADM_ADMITTED);
}

void wait_in(adm_child_t *child, uint32_t n)
{
    ck_assert_int_eq(enter(child, zone, &waiting[n]), ADM_WAITING);
}

void park_in(adm_child_t *child, uint32_t n)
{
    wait_in(child, n);
    adm_ticket_park(&waiting[n], n);
}

void hand_over(void)
{
    adm_ticket_release(&inside, adm_now());
    granted_at = rec_of_zone(zone)->lease_until - LEASE;
}

void look_after(adm_usec_t time)
{
    adm_lease_look(two, zone, granted_at + time);
}

void assert_permit_is_with(uint32_t expected)
{
    uint32_t n;

    for (n = 0; n < WAITERS; n++) {
        if (waiting[n].child) {
            ck_assert_msg(adm_ticket_is_granted(&waiting[n]) == (n == expected),
                          "waiter %u: granted %d", n, adm_ticket_is_granted(&waiting[n]));
        }
    }
    ck_assert_uint_eq(active_in(zone), 1);
    assert_segment_consistent();
}

uint64_t admitted(void)
{
    adm_zone_stats_t stats = stats_of(one, zone);

    return adm_figures_admitted(&stats.figures);
}

uint64_t passed_on(void)
{
    return stats_of(one, zone).figures.grants_passed_on;
}
