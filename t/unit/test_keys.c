/* test_keys.c - a zone in which keys take turns. */
#include "test_keys.h"

adm_ticket_t tickets[TICKETS];

void begin(uint32_t limit)
{
    uses_flows = true;
    make_segment(8, 8, 256);
    zone = zone_called("shared", limit, LENGTH);
    child = join();
}

adm_entry_t entry_of(uint64_t key)
{
    return (adm_entry_t){ .wait = ADM_WAIT_PARKED, .key = key, .key_name = "somebody" };
}

adm_outcome_t come_as(adm_entry_t entry, uint32_t n)
{
    return enter_as(child, zone, entry, adm_now(), &tickets[n]);
}

/* Tickets from @a first on enter with one key. */
void come(uint64_t key, uint32_t first, uint32_t count, adm_outcome_t expected)
{
    uint32_t n;

    for (n = first; n < first + count; n++) {
        ck_assert_int_eq(come_as(entry_of(key), n), expected);
    }
}

bool is_granted(uint32_t n)
{
    return adm_ticket_is_granted(&tickets[n]);
}

/* Ticket @a from leaves, and @a to has its permit. */
void assert_follows(uint32_t from, uint32_t to)
{
    leave(&tickets[from]);
    ck_assert_msg(is_granted(to), "%u does not follow %u", to, from);
    ck_assert(adm_ticket_begin(&tickets[to], adm_now()));
    assert_segment_consistent();
}

const adm_flow_rec_t *flow_of(uint32_t n)
{
    return &adm_flow_table(segment, rec_of_zone(zone))
                ->flows[adm_ask_at(segment, tickets[n].idx)->flow_idx - 1];
}
