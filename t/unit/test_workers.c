/* test_workers.c - a zone whose requests take workers, and what is counted. */
#include "test_workers.h"

void make_zone(uint32_t limit, uint32_t cap)
{
    zone = zone_with(limit, 100);
    set_worker_cap(cap);
    child = join();
}

adm_outcome_t ask(adm_entry_t entry, adm_ticket_t *ticket)
{
    return enter_as(child, zone, entry, adm_now(), ticket);
}

static adm_server_stats_t server_now(void)
{
    adm_server_stats_t stats;

    adm_view_server(segment, &stats);
    return stats;
}

uint32_t workers(void)
{
    return server_now().workers_held;
}

uint32_t blocked(void)
{
    return server_now().blocked;
}

uint32_t workers_blocked(void)
{
    return server_now().workers_blocked;
}

void assert_workers(uint32_t expected)
{
    ck_assert_uint_eq(workers(), expected);
    ck_assert_uint_eq(atomic_load(&segment->header->workers_held), expected);
}
