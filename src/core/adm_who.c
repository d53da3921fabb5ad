/* adm_who.c - show which requests run and wait in a zone.
 * Called by the module.
 *
 * A ticket's owner describes its request in a record next to the ticket,
 * without a lock. The record has the ticket's arrival; a reader compares that
 * before and after it copies, so that no request is shown with another one's
 * description. Nothing depends on the record.
 */
#include <string.h>

#include "adm_fault.h"
#include "fair/fair_flow.h"
#include "adm_layout.h"
#include "adm_zone.h"

const char *adm_priority_name(adm_priority_t priority)
{
    static const char *const names[] = { [ADM_PRIORITY_NORMAL] = "normal",
                                         [ADM_PRIORITY_HIGH] = "high",
                                         [ADM_PRIORITY_LOW] = "low" };

    return names[priority];
}

/* Never 0, because arrivals start at 0. */
static uint64_t mark_of(uint64_t arrival)
{
    return arrival + 1;
}

void adm_who_note(const adm_ticket_t *ticket, const adm_who_t *who)
{
    adm_who_rec_t *rec = adm_who_at(ticket->child->segment, ticket->idx);

    atomic_store(&rec->mark, 0);
    atomic_thread_fence(memory_order_release);
    rec->who = *who;
    atomic_store_explicit(&rec->mark, mark_of(ticket->arrival),
                          memory_order_release);
}

/* A compromised child could omit the NUL. */
static void end_texts(adm_who_t *who)
{
    who->client[sizeof(who->client) - 1] = '\0';
    who->method[sizeof(who->method) - 1] = '\0';
    who->host[sizeof(who->host) - 1] = '\0';
    who->uri[sizeof(who->uri) - 1] = '\0';
}

/* @return false if no description was written, or it is just being written. */
static bool copy_who(const adm_who_rec_t *rec, uint64_t arrival, adm_who_t *who)
{
    if (atomic_load_explicit(&rec->mark, memory_order_acquire)
        != mark_of(arrival)) {
        return false;
    }
    *who = rec->who;
    end_texts(who);
    atomic_thread_fence(memory_order_acquire);
    return atomic_load(&rec->mark) == mark_of(arrival);
}

/* @return when the request started, or since when it waits. */
static adm_usec_t since_of(const adm_ticket_rec_t *ticket, bool runs)
{
    adm_usec_t begun = runs && atomic_load(&ticket->state) == ADM_TICKET_ACTIVE
                           ? atomic_load(&ticket->begun_usec)
                           : 0;

    return begun ? begun : ticket->since_usec;
}

/* Copy what the request asked for. Only in zones with flows. */
static void copy_ask_locked(const adm_ask_rec_t *ask, uint64_t arrival,
                            adm_present_t *present)
{
    if (ask->arrival != arrival) {
        return;
    }
    present->has_asked = true;
    memcpy(present->key, ask->name, ADM_KEY_NAME);
    present->cost = present->runs ? ask->cost : fair_flow_need(ask, UINT32_MAX);
    present->priority = ask->priority < ADM_PRIORITIES
                            ? (adm_priority_t)ask->priority
                            : ADM_PRIORITY_NORMAL;
}

/* Copy a ticket's request into @a present. @return false if it is free. */
static bool copy_locked(const adm_segment_t *segment,
                        const adm_zone_rec_t *zone, uint32_t idx,
                        adm_usec_t now, adm_present_t *present)
{
    const adm_ticket_rec_t *ticket = adm_ticket_at(segment, idx);
    unsigned state = atomic_load(&ticket->state);
    adm_usec_t since;

    if (state == ADM_TICKET_FREE || state > ADM_TICKET_GRANTED) {
        return false;
    }
    *present = (adm_present_t){ .runs = state == ADM_TICKET_ACTIVE
                                        || state == ADM_TICKET_ORPHANED };
    since = since_of(ticket, present->runs);
    present->age_usec = now > since ? now - since : 0;
    present->is_known = copy_who(adm_who_at(segment, idx), ticket->arrival,
                                 &present->who);
    if (fair_flow_is_used(zone)) {
        copy_ask_locked(adm_ask_at(segment, idx), ticket->arrival, present);
    }
    if (present->runs) {
        uint32_t pid = adm_program_pid(atomic_load(&ticket->program));

        present->program = pid != ADM_PROGRAM_CLOSED ? (pid_t)pid : 0;
        present->program_seen = atomic_load(&ticket->program_seen);
    }
    return true;
}

apr_status_t adm_who_list(adm_child_t *child, adm_zone_t zone, adm_usec_t now,
                          uint32_t *cursor, adm_present_t *present,
                          uint32_t *count)
{
    adm_segment_t *segment = child->segment;
    uint32_t end = adm_chunks_used(segment), first, n;
    apr_status_t rv;

    *count = 0;
    while (*count == 0
           && (first = adm_chunk_next(segment, zone.idx, cursor, end))) {
        adm_zone_rec_t *rec = adm_zone_open(segment, zone, now, &rv);

        if (!rec) {
            return rv;
        }
        for (n = 0; n < ADM_CHUNK_TICKETS; n++) {
            *count += copy_locked(segment, rec, first + n, now,
                                  &present[*count]);
        }
        adm_zone_unlock(segment, rec, now);
    }
    return APR_SUCCESS;
}

void adm_who_note_sent(const adm_ticket_t *ticket, uint32_t by)
{
    adm_who_rec_t *rec = adm_who_at(ticket->child->segment, ticket->idx);

    atomic_store(&rec->sent, adm_sent_word(ticket->arrival, by));
    ADM_FAULT(who_sent);
}

/* Count the permits of a chunk whose request was sent by another virtual host.
 * @return false if a permit is held by any other request. */
static bool chunk_was_sent_locked(const adm_segment_t *segment, uint32_t first,
                                  uint32_t by, uint32_t *count)
{
    uint32_t idx;

    for (idx = first; idx < first + ADM_CHUNK_TICKETS; idx++) {
        const adm_ticket_rec_t *ticket = adm_ticket_at(segment, idx);
        unsigned state = atomic_load(&ticket->state);
        uint64_t sent = atomic_load(&adm_who_at(segment, idx)->sent);
        uint32_t sender = (uint32_t)sent;

        if (state == ADM_TICKET_FREE || state == ADM_TICKET_WAITING) {
            continue;
        }
        if (sender == 0 || sender == by
            || sent != adm_sent_word(ticket->arrival, sender)) {
            return false;
        }
        ++*count;
    }
    return true;
}

bool adm_who_all_sent(adm_child_t *child, adm_zone_t zone, uint32_t by,
                      adm_usec_t now)
{
    adm_segment_t *segment = child->segment;
    uint32_t chunk = 0, first, count = 0, end = adm_chunks_used(segment);
    apr_status_t rv;
    adm_zone_rec_t *rec = adm_zone_open(segment, zone, now, &rv);
    bool all = rec != NULL;

    while (all && (first = adm_chunk_next(segment, zone.idx, &chunk, end))) {
        all = chunk_was_sent_locked(segment, first, by, &count);
    }
    if (rec) {
        adm_zone_unlock(segment, rec, now);
    }
    return all && count > 0;
}
