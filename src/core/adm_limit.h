/* adm_limit.h - a zone's limit, which has several sources.
 * Called by adm_zone and adm_ticket, and by the parent to configure.
 *
 * All words are atomic: no function locks or blocks.
 */
#ifndef ADM_LIMIT_H
#define ADM_LIMIT_H

#include "adm_layout.h"

/** Value of a source that sets no limit. It is stored as 0: a word is the limit
 *  + 1. */
#define ADM_LIMIT_NONE UINT32_MAX

/** Set the limit of one source. Only for the writers of this source. The next
 *  unlock of the zone grants the permits of a raised limit. */
void adm_limit_set(adm_zone_rec_t *zone, enum adm_limit_source_t source,
                   uint32_t limit);

/** @return the limit of one source; ADM_LIMIT_NONE, the largest number, if it
 *  sets none. */
uint32_t adm_limit_of_source(const adm_zone_rec_t *zone,
                             enum adm_limit_source_t source);

/** Renew the term of a measured limit: three seconds from @a now. After it, the
 *  limit is at most @a safe; 0: unchanged. Only for the agent. */
void adm_limit_renew_term(adm_zone_rec_t *zone, uint32_t safe, adm_usec_t now);

/** Cancel the term: nothing has been measured yet. Only for the parent. */
void adm_limit_cancel_term(adm_zone_rec_t *zone);

/** @return whether there was a term that is over, or too far ahead to be
 *  right. */
bool adm_limit_is_past_term(const adm_zone_rec_t *zone, adm_usec_t now);

/** Lower a measured limit to its safe value, if its term is over. For any
 *  child, while the agent is not at work. */
void adm_limit_fall_back(adm_zone_rec_t *zone, adm_usec_t now);

/** Start to share a limit across servers; the share is 0. Only for the
 *  parent. */
void adm_limit_begin_share(adm_zone_rec_t *zone);

/** Clear all sources: the slot gets another zone. Only for the parent. */
void adm_limit_clear(adm_zone_rec_t *zone);

/** Clear the administrator's overrides. Only for the parent. */
void adm_limit_clear_overrides(adm_zone_rec_t *zone);

/** @return what happens to new requests; ADM_MODE_OPEN if the mode is
 *  corrupt. */
adm_mode_t adm_limit_mode(const adm_zone_rec_t *zone);

/** @return the limit in force: the lowest of all sources, where an override
 *  replaces the configured and the measured limit. 0 while the zone is
 *  paused. */
uint32_t adm_limit_compute(const adm_zone_rec_t *zone);

/** @return the limit in force, without the share of a limit across servers. 0
 *  while the zone is paused. */
uint32_t adm_limit_without_share(const adm_zone_rec_t *zone);

/** @return whether the lease of the zone's share is valid. Reads the clock. */
bool adm_limit_has_lease(const adm_zone_rec_t *zone);

/** @return whether new requests are rejected because the zone has no share with
 *  a valid lease: it has expired, or the first one was not granted yet. */
bool adm_limit_is_cut_off(const adm_zone_rec_t *zone);

/** @return whether the zone is cut off and has had no lease since sharing
 *  started. */
bool adm_limit_has_no_lease_yet(const adm_zone_rec_t *zone);

/* The loads below are sequentially consistent with `queued`:
 * adm_zone_begin_ticket_locked(). */

/** @return the limit in force, as adm_limit_compute(). Fast if only the
 *  configuration sets one. */
static inline uint32_t adm_limit_effective(const adm_zone_rec_t *zone)
{
    if (atomic_load(&zone->has_other_limits)) {
        return adm_limit_compute(zone);
    }
    return atomic_load(&zone->limits[ADM_LIMIT_CONFIGURED]) - 1;
}

/** @return the queue length in force: an override, otherwise @a configured, the
 *  length in the request's section. */
static inline uint32_t adm_limit_queue_length(const adm_zone_rec_t *zone,
                                              uint32_t configured)
{
    uint32_t stored = atomic_load(&zone->has_other_limits)
                          ? atomic_load(&zone->queue_length_override)
                          : 0;

    return stored ? stored - 1 : configured;
}

/** @return whether new requests are rejected, because the zone is drained. */
static inline bool adm_limit_is_draining(const adm_zone_rec_t *zone)
{
    return atomic_load(&zone->has_other_limits)
           && atomic_load(&zone->mode) == ADM_MODE_DRAIN;
}

/** @return whether a permit is free. Exact under the zone's lock, otherwise a
 *  hint. */
static inline bool adm_limit_has_free_permit(const adm_zone_rec_t *zone)
{
    return atomic_load_explicit(&zone->active, memory_order_relaxed)
           < adm_limit_effective(zone);
}

#endif
