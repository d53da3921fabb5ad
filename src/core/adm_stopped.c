/* adm_stopped.c - take back what stopped children keep.
 * Called by adm_round.
 *
 * A child that is stopped (SIGSTOP, a debugger) gives nothing back. If a permit of
 * it is used for one program and nothing else, and that has ended, the permit is
 * idle. It becomes that of an orphan, and is free with the next look at these. What
 * the child finds when it goes on is in docs/shared-memory.md.
 */
#include "adm_child.h"
#include "adm_fault.h"
#include "adm_figures.h"
#include "adm_flow.h"
#include "adm_hand_over.h"
#include "adm_layout.h"
#include "adm_proc.h"
#include "adm_program.h"
#include "adm_stopped.h"
#include "adm_zone.h"

static bool is_held(const adm_ticket_rec_t *ticket)
{
    return atomic_load(&ticket->state) == ADM_TICKET_ACTIVE
           && atomic_load(&ticket->programs) == ADM_PROGRAMS_ONE;
}

/* System calls, and in this order: a program that has ended is rare. */
static bool keeps_idle_permit(const adm_segment_t *segment,
                              const adm_reap_found_t *holder)
{
    const adm_child_rec_t *child = adm_child_at(segment, holder->child_idx);
    uint64_t life = child ? atomic_load(&child->life) : 0;

    return adm_life_state(life) == ADM_LIFE_LIVE
           && adm_program_leaves_permit_idle(adm_ticket_at(segment,
                                                           holder->ticket_idx),
                                             holder->arrival)
           && adm_proc_is_stopped(adm_life_pid(life));
}

static void take_back(adm_reap_round_t *round, uint32_t zone_idx,
                      const adm_reap_found_t *holder)
{
    adm_segment_t *segment = round->segment;
    adm_ticket_rec_t *ticket = adm_ticket_at(segment, holder->ticket_idx);
    adm_zone_rec_t *zone = adm_reap_lock(round, zone_idx);

    if (!zone) {
        return;
    }
    if (is_held(ticket) && ticket->arrival == holder->arrival
        && adm_program_take_permit_locked(ticket)) {
        ADM_FAULT(stopped_taken);
        adm_hand_over_settle_ticket_locked(segment, zone, holder->ticket_idx);
        adm_figures_note_served(&zone->figures, round->now - ticket->since_usec,
                                adm_flow_cost(segment, zone,
                                              holder->ticket_idx));
        /* T16_take_back */
        adm_zone_orphan_ticket_locked(segment, zone, holder->ticket_idx,
                                      round->now);
        atomic_fetch_or(&ticket->programs, ADM_PROGRAMS_ABANDONED);
    }
    adm_zone_unlock(segment, zone, round->now);
}

static void take_back_if_idle(adm_reap_round_t *round, uint32_t zone_idx,
                              const adm_reap_found_t *holder)
{
    if (keeps_idle_permit(round->segment, holder)) {
        take_back(round, zone_idx, holder);
    }
}

static bool has_queue(const adm_zone_rec_t *zone)
{
    return atomic_load(&zone->queued) > 0;
}

void adm_stopped_take_back(adm_reap_round_t *round)
{
    const adm_reap_task_t task = { has_queue, is_held, take_back_if_idle };

    adm_reap_each(round, &task);
}
