/* spool_shm.c - what is kept for slow clients, over all children.
 * Called by the module.
 *
 * There is no common count that a kill could leave wrong: who asks for more sums up
 * the living children. That is done for each piece of a file, not for each byte.
 */
#include "adm_child.h"
#include "adm_fault.h"
#include "adm_layout.h"
#include "adm_worker.h"

static uint64_t spooled_by_all(const adm_segment_t *segment)
{
    const adm_child_rec_t *rec;
    uint64_t bytes = 0;
    uint32_t idx = 0;

    while ((rec = adm_child_next(segment, &idx))) {
        bytes += atomic_load(&rec->spooled);
    }
    return bytes;
}

/* Who asks says so first: of two that ask at once, the one that sums up last sees
 * the other. */
bool adm_spool_take(adm_child_t *child, uint64_t bytes, uint64_t limit)
{
    /* K1_ask, K2_sum */
    atomic_fetch_add(&child->rec->spooled, bytes);
    ADM_FAULT(spool_taken);
    if (spooled_by_all(child->segment) > limit) {
        atomic_fetch_sub(&child->rec->spooled, bytes); /* K3_refused */
        return false;
    }
    return true; /* K4_keep */
}

void adm_spool_give_back(adm_child_t *child, uint64_t bytes)
{
    if (adm_child_is_self(child)) {
        atomic_fetch_sub(&child->rec->spooled, bytes); /* K5_give_back */
    }
}

bool adm_spool_begin_transfer(adm_child_t *child)
{
    if (!adm_worker_has_room(child)) {
        return false;
    }
    atomic_fetch_add(&child->rec->transfers, 1);
    return true;
}

void adm_spool_end_transfer(adm_child_t *child)
{
    if (adm_child_is_self(child)) {
        atomic_fetch_sub(&child->rec->transfers, 1);
    }
}

bool adm_spool_may_log(adm_segment_t *segment, adm_usec_t now,
                       adm_usec_t interval)
{
    return adm_due(&segment->header->next_spool_log, now, interval);
}
