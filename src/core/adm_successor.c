/* adm_successor.c - move a permit to another request, which continues the work.
 * Called by the module, for requests that the server has sent to itself.
 *
 * The old ticket ends and the new one starts in one critical section, so that
 * no waiting request gets the permit in between.
 */
#include "adm_fault.h"
#include "fair/fair_flow.h"
#include "adm_layout.h"
#include "adm_program.h"
#include "adm_zone.h"

/* @return whether the ticket belongs to the zone: a chunk stays with its zone. */
static bool is_in_zone(const adm_segment_t *segment, uint32_t zone_idx,
                       uint32_t idx)
{
    return atomic_load(
               &segment->chunk_recs[(idx - 1) / ADM_CHUNK_TICKETS].zone_idx)
           == zone_idx;
}

/* End the old ticket and start @a successor with its permit. @a successor gets
 * no worker: the old request's worker is still counted. */
static bool move_locked(adm_child_t *child, adm_zone_rec_t *zone,
                        uint32_t from_idx, adm_usec_t now,
                        adm_ticket_t *successor)
{
    char name[ADM_KEY_NAME];
    adm_entry_t entry = fair_flow_entry_of(child->segment, from_idx, name);

    *successor = (adm_ticket_t){
        .child = child, .zone_idx = adm_zone_idx(child->segment, zone)
    };
    adm_zone_end_ticket_locked(child->segment, zone,
                               from_idx); /* T15_move_on */
    if (adm_zone_begin_ticket_locked(child, zone, ADM_TICKET_ACTIVE, &entry,
                                     now, successor)
        != APR_SUCCESS) {
        return false;
    }
    atomic_store(&successor->held, 1);
    return true;
}

adm_successor_t adm_successor_take(adm_child_t *child, adm_zone_t zone,
                                   const char *name, adm_usec_t now,
                                   adm_ticket_t *successor)
{
    adm_segment_t *segment = child->segment;
    adm_successor_t result = ADM_SUCCESSOR_ENDED;
    adm_ticket_rec_t *from;
    adm_zone_rec_t *rec;
    uint64_t arrival;
    uint32_t idx;
    bool has_program;
    apr_status_t rv;

    from = adm_ticket_named(segment, name, &idx, &arrival);
    if (!from || !is_in_zone(segment, zone.idx, idx)) {
        return ADM_SUCCESSOR_NONE;
    }
    /* Before the lock: makes system calls. The old request cannot start a
     * program in the meantime, because it waits for the successor. */
    has_program = successor && atomic_load(&from->programs) > 0
                  && !adm_program_is_over(from, arrival);
    /* Wait as long as a request that enters. If this fails, the new request
     * queues behind the old one, which waits for its response. */
    rec = adm_zone_lock(segment, zone.idx, &rv);
    if (!rec) {
        return ADM_SUCCESSOR_NONE;
    }
    if (rec->applied_incarnation == zone.incarnation
        && atomic_load(&from->state) == ADM_TICKET_ACTIVE
        && from->arrival == arrival) {
        result = successor && !has_program
                         && move_locked(child, rec, idx, now, successor)
                     ? ADM_SUCCESSOR_MOVED
                     : ADM_SUCCESSOR_KEPT;
    }
    adm_zone_unlock(segment, rec, now);
    return result;
}
