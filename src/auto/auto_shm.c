/* auto_shm.c - automatic limits in shared memory. */
#include "core/adm_account.h"
#include "auto_shm.h"
#include "core/adm_fault.h"
#include "core/adm_figures.h"
#include "fair/fair_flow.h"
#include "core/adm_history.h"
#include "core/adm_number.h"
#include "core/adm_seqlock.h"
#include "core/adm_zone.h"
#include "law_tune.h"

const adm_part_t adm_part_auto = { .of_zone = sizeof(auto_rec_t) };

/* ---- measurements --------------------------------------------------------------- */

/* Copy the sizes of the zone's programs, an entry per permit. @return their number. */
static uint32_t copy_sizes_locked(const adm_segment_t *segment,
                                  const adm_zone_rec_t *zone, uint32_t *sizes,
                                  uint32_t room)
{
    uint32_t zone_idx = adm_zone_idx(segment, zone);
    uint32_t end = adm_chunks_used(segment);
    uint32_t chunk = 0, first, idx, count = 0;

    while ((first = adm_chunk_next(segment, zone_idx, &chunk, end))) {
        for (idx = first; idx < first + ADM_CHUNK_TICKETS; idx++) {
            uint64_t kb = adm_account_size_kb(segment, idx);
            uint32_t cost = fair_flow_cost(segment, zone, idx), n;

            for (n = 0; kb > 0 && n < adm_greater(cost, 1) && count < room;
                 n++) {
                sizes[count++] = (uint32_t)adm_account_part(kb, cost);
            }
        }
    }
    return count;
}

apr_status_t auto_sample(adm_child_t *self, adm_zone_t zone, adm_usec_t now,
                         auto_work_t *work, uint32_t *sizes, uint32_t room,
                         uint32_t *count)
{
    adm_segment_t *segment = self->segment;
    const adm_zone_rec_t *unlocked = adm_zone_at(segment, zone.idx);
    adm_zone_rec_t *rec;
    apr_status_t rv;

    if (!unlocked) {
        return APR_EINVAL;
    }
    work->limit = adm_limit_effective(unlocked);
    work->active = atomic_load(&unlocked->active);
    work->queued = atomic_load(&unlocked->queued);
    rec = adm_zone_open(segment, zone, now, &rv);
    if (!rec) {
        return rv;
    }
    work->served = rec->figures.service.count;
    work->service_usec = rec->figures.work_usec;
    work->service_square_msec2 = rec->figures.service_square_msec2;
    work->queued_usec = rec->figures.queued_usec;
    if (rec->queued_since != 0 && now > rec->queued_since) {
        work->queued_usec += (uint64_t)(now - rec->queued_since);
    }
    work->programs = rec->figures.programs;
    work->peak_kb = rec->peak_kb;
    rec->peak_kb = 0;
    *count = copy_sizes_locked(segment, rec, sizes, room);
    adm_zone_unlock(segment, rec, now);
    return APR_SUCCESS;
}

bool auto_is_busy(const adm_segment_t *segment, adm_zone_t zone)
{
    const adm_zone_rec_t *rec = adm_zone_at(segment, zone.idx);

    return rec && (atomic_load(&rec->active) || atomic_load(&rec->queued));
}

/* ---- the state -------------------------------------------------------------------- */

bool auto_read(const adm_segment_t *segment, adm_zone_t zone, law_tune_t *state)
{
    const auto_rec_t *rec = auto_rec_at(segment, zone);
    const adm_zone_rec_t *of_zone = adm_zone_at(segment, zone.idx);
    unsigned before, began;

    if (!rec) {
        return false;
    }
    before = atomic_load(&rec->sequence);
    adm_words_load(rec->state, state, sizeof(*state));
    began = atomic_load(&rec->of_began);
    return before % 2 == 0 && before == atomic_load(&rec->sequence)
           && began != 0 && began == atomic_load(&of_zone->measured_began);
}

void auto_write(adm_segment_t *segment, adm_zone_t zone,
                const law_tune_t *state, uint32_t safe, adm_usec_t now)
{
    auto_rec_t *rec = auto_rec_at(segment, zone);
    adm_zone_rec_t *of_zone = adm_zone_at(segment, zone.idx);

    if (!rec) {
        return;
    }
    /* Not an addition: an agent that was killed here has left an odd number. */
    atomic_fetch_or(&rec->sequence, 1);
    ADM_FAULT(auto_begun);
    adm_words_store(rec->state, state, sizeof(*state));
    atomic_store(&rec->of_began, atomic_load(&of_zone->measured_began));
    atomic_fetch_add(&rec->sequence, 1);
    adm_limit_renew_term(of_zone, safe, now);
    ADM_FAULT(auto_written);
}

/* ---- the limit ------------------------------------------------------------------ */

uint32_t auto_limit(const adm_segment_t *segment, adm_zone_t zone)
{
    const adm_zone_rec_t *rec = adm_zone_at(segment, zone.idx);

    return rec ? atomic_load(&rec->limits[ADM_LIMIT_AUTO]) - 1 : ADM_LIMIT_NONE;
}

bool auto_set(adm_child_t *self, adm_zone_t zone, uint32_t limit,
              adm_usec_t now)
{
    adm_segment_t *segment = self->segment;
    adm_zone_rec_t *rec = adm_zone_at(segment, zone.idx);
    apr_status_t rv;

    if (!rec) {
        return true;
    }
    adm_limit_set(rec, ADM_LIMIT_AUTO, limit);
    ADM_FAULT(auto_set);
    /* Unlocking grants the permits that a raised limit adds. */
    rec = adm_zone_open(segment, zone, now, &rv);
    if (rec) {
        adm_history_note_limit_locked(segment, rec, now);
        adm_zone_unlock(segment, rec, now);
    }
    return rec != NULL;
}

/* ---- the agent's sleep ------------------------------------------------------------ */

/* If the zone is idle, let its next request wake the agent. The zone is locked: no
 * request can enter between check and order. @return whether the zone is idle. */
static bool watch_if_idle(adm_segment_t *segment, adm_zone_t zone,
                          adm_usec_t now)
{
    apr_status_t rv;
    adm_zone_rec_t *rec = adm_zone_open(segment, zone, now, &rv);
    bool is_idle = rec && !auto_is_busy(segment, zone);

    if (is_idle) {
        adm_zone_watch_locked(rec, ADM_WATCH_ENTER, ADM_WATCH_ENTER);
    }
    if (rec) {
        adm_zone_unlock(segment, rec, now);
    }
    return is_idle;
}

bool auto_wake_on_request(adm_segment_t *segment, const adm_zone_t *zones,
                          uint32_t count, adm_usec_t now)
{
    uint32_t n;

    for (n = 0; n < count; n++) {
        if (auto_is_busy(segment, zones[n])) {
            return false;
        }
    }
    for (n = 0; n < count; n++) {
        if (!watch_if_idle(segment, zones[n], now)) {
            return false;
        }
    }
    return true;
}

/* ---- outputs ---------------------------------------------------------------------- */

/* Maximum number of attempts to read the state. A write takes a microsecond, so if
 * all attempts fail, the agent was killed while writing. */
#define TRIES 4

void auto_view(const adm_segment_t *segment, adm_zone_t zone, adm_usec_t now,
               law_tune_shown_t *shown)
{
    const adm_zone_rec_t *rec = adm_zone_at(segment, zone.idx);
    law_tune_t state;
    uint64_t at = now > 0 ? (uint64_t)now : 0;
    int tries = TRIES;

    *shown = (law_tune_shown_t){ .reason = LAW_TUNE_NONE };
    while (tries > 0 && !auto_read(segment, zone, &state)) {
        tries--;
    }
    if (tries == 0) {
        return;
    }
    *shown = law_tune_show(&state, at);
    /* An expired term is normal while the zone is idle and the agent sleeps. */
    if (adm_limit_is_past_term(rec, now)
        && !(atomic_load(&rec->watch) & ADM_WATCH_ENTER)) {
        shown->reason = LAW_TUNE_SILENT;
    }
}
