/* adm_account.c - what programs use: CPU time, memory, page faults.
 * Called by src/agent, which samples them; by adm_ticket and adm_zone, when a
 * program has ended; by auto_shm and adm_view.
 *
 * Records are written without a lock: the program's word is stored last, and a
 * reader compares it before and after it copies. The agent and the ticket's
 * owner can write concurrently. Both write samples of the same program, so each
 * field is right by itself.
 */
#include "adm_account.h"
#include "adm_agent.h"
#include "adm_figures.h"
#include "fair/fair_flow.h"

uint64_t adm_account_program(const adm_ticket_rec_t *ticket)
{
    uint32_t state = atomic_load(&ticket->state);

    return state == ADM_TICKET_ACTIVE || state == ADM_TICKET_ORPHANED
               ? adm_program_known(ticket)
               : 0;
}

void adm_account_note(adm_segment_t *segment, uint32_t ticket_idx,
                      uint64_t program, const adm_proc_usage_t *usage)
{
    adm_who_rec_t *rec = adm_who_at(segment, ticket_idx);

    atomic_store(&rec->taken_of, 0);
    atomic_store(&rec->size_kb, usage->size_kb);
    atomic_store(&rec->peak_kb, usage->peak_kb);
    atomic_store(&rec->processor_usec, usage->processor_usec);
    atomic_store(&rec->faults, usage->faults);
    atomic_store(&rec->taken_of, program);
}

bool adm_account_note_size(adm_segment_t *segment, uint32_t ticket_idx,
                           uint64_t program, uint64_t size_kb)
{
    adm_who_rec_t *rec = adm_who_at(segment, ticket_idx);

    if (atomic_load(&rec->taken_of) != program) {
        return false;
    }
    atomic_store(&rec->size_kb, size_kb);
    if (size_kb > atomic_load(&rec->peak_kb)) {
        atomic_store(&rec->peak_kb, size_kb);
    }
    return true;
}

uint64_t adm_account_size_kb(const adm_segment_t *segment, uint32_t ticket_idx)
{
    const adm_who_rec_t *rec = adm_who_at(segment, ticket_idx);
    uint64_t program = adm_account_program(adm_ticket_at(segment, ticket_idx));

    return program != 0 && atomic_load(&rec->taken_of) == program
               ? atomic_load(&rec->size_kb)
               : 0;
}

/* @return false if nothing was recorded of @a program, or a writer is
 * active. */
static bool copy_out(const adm_who_rec_t *rec, uint64_t program,
                     adm_proc_usage_t *usage)
{
    if (program == 0 || atomic_load(&rec->taken_of) != program) {
        return false;
    }
    usage->peak_kb = atomic_load(&rec->peak_kb);
    usage->processor_usec = atomic_load(&rec->processor_usec);
    usage->faults = atomic_load(&rec->faults);
    return atomic_load(&rec->taken_of) == program;
}

/* Count the memory per permit of an ended program, for automatic limits. */
static void note_part_locked(adm_zone_rec_t *zone, uint64_t peak_kb,
                             uint32_t cost)
{
    uint64_t part = adm_account_part(peak_kb, cost);

    adm_figures_note_programs(&zone->figures, part, adm_greater(cost, 1));
    if (part > zone->peak_kb) {
        zone->peak_kb = part;
    }
}

void adm_account_end_locked(adm_segment_t *segment, adm_zone_rec_t *zone,
                            uint32_t ticket_idx)
{
    uint64_t program = adm_program_known(adm_ticket_at(segment, ticket_idx));
    adm_proc_usage_t usage;

    if (copy_out(adm_who_at(segment, ticket_idx), program, &usage)) {
        adm_figures_account(&zone->figures, usage.peak_kb, usage.processor_usec,
                            usage.faults);
        note_part_locked(zone, usage.peak_kb,
                         fair_flow_cost(segment, zone, ticket_idx));
    }
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
