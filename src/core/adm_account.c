/* adm_account.c - what programs take, for people.
 * Called by the agent, which looks; by adm_ticket, when one has ended; by adm_view.
 *
 * Nothing is decided by it. The agent writes beside the ticket without a lock, the
 * program's word last: who reads it compares before and after.
 */
#include "adm_account.h"
#include "adm_agent.h"

static void store(adm_who_rec_t *beside, uint64_t program,
                  const adm_proc_took_t *usage)
{
    atomic_store(&beside->taken_of, 0);
    atomic_store(&beside->peak_kb, usage->peak_kb);
    atomic_store(&beside->processor_usec, usage->processor_usec);
    atomic_store(&beside->faults, usage->faults);
    atomic_store(&beside->taken_of, program);
}

/* @return whether there was one to look at. */
static bool look_at(adm_segment_t *segment, uint32_t idx)
{
    const adm_ticket_rec_t *rec = adm_ticket_at(segment, idx);
    adm_who_rec_t *beside = adm_who_at(segment, idx);
    uint64_t program;
    adm_proc_took_t usage;

    if (!rec || !beside || atomic_load(&rec->state) != ADM_TICKET_ACTIVE) {
        return false;
    }
    program = adm_program_known(rec);
    if (program == 0) {
        return false;
    }
    if (adm_proc_takes((pid_t)adm_program_pid(program),
                       atomic_load(&rec->program_seen), &usage)) {
        store(beside, program, &usage);
    }
    return true;
}

/* A chunk of a zone in which nothing runs has no programs. */
static bool is_idle(const adm_segment_t *segment, uint32_t chunk)
{
    uint32_t idx = atomic_load(&segment->chunk_recs[chunk].zone_idx);
    const adm_zone_rec_t *zone = adm_zone_at(segment, idx);

    return !zone || atomic_load(&zone->active) == 0;
}

uint32_t adm_account_look(adm_child_t *self, uint32_t *cursor, uint32_t most)
{
    adm_segment_t *segment = self->segment;
    uint32_t all = adm_chunks_used(segment) * ADM_CHUNK_TICKETS;
    uint32_t idx = *cursor, looked, count = 0;

    for (looked = 0; looked < all && count < most; looked++, idx++) {
        if (idx - 1 >= all) {
            idx = 1;
        }
        if ((idx - 1) % ADM_CHUNK_TICKETS == 0
            && is_idle(segment, (idx - 1) / ADM_CHUNK_TICKETS)) {
            idx += ADM_CHUNK_TICKETS - 1;
            looked += ADM_CHUNK_TICKETS - 1;
            continue;
        }
        count += look_at(segment, idx);
    }
    *cursor = idx;
    return count;
}

bool adm_account_took(const adm_ticket_t *ticket, adm_proc_took_t *usage)
{
    const adm_segment_t *segment = ticket->child->segment;
    const adm_ticket_rec_t *rec = adm_ticket_at(segment, ticket->idx);
    const adm_who_rec_t *beside = adm_who_at(segment, ticket->idx);
    uint64_t program = rec ? adm_program_known(rec) : 0;

    if (!beside || program == 0
        || program >> 32 != (ticket->arrival & UINT32_MAX)
        || atomic_load(&beside->taken_of) != program) {
        return false;
    }
    usage->peak_kb = atomic_load(&beside->peak_kb);
    usage->processor_usec = atomic_load(&beside->processor_usec);
    usage->faults = atomic_load(&beside->faults);
    return atomic_load(&beside->taken_of) == program;
}

void adm_account_note_available(adm_child_t *self, uint64_t kb)
{
    atomic_store(&self->segment->header->available_kb, kb);
}

uint64_t adm_account_available(const adm_segment_t *segment, adm_usec_t now)
{
    return adm_agent_is_at_work(segment, now)
               ? atomic_load(&segment->header->available_kb)
               : 0;
}
