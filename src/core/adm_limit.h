/* adm_limit.h - how many may run in a zone.
 * Called by adm_zone and adm_ticket, and by the parent to configure.
 *
 * Atomic words: no lock is needed, and none of this blocks.
 */
#ifndef ADM_LIMIT_H
#define ADM_LIMIT_H

#include "adm_layout.h"

/** What a source says that says nothing: the word 0, less one. */
#define ADM_LIMIT_NONE UINT32_MAX

/**
 * Set what one source says. Only the process that may speak for that source. A
 * raised limit is handed out by the next unlock of the zone.
 */
void adm_limit_set(adm_zone_rec_t *zone, enum adm_limit_source_t source,
                   uint32_t limit);

/** @return what a source says; ADM_LIMIT_NONE, the largest number: nothing. */
uint32_t adm_limit_said(const adm_zone_rec_t *zone,
                        enum adm_limit_source_t source);

/** What was measured of the zone applies for another term of three seconds, and after
 *  it at most @a safe; 0: nothing is known of that. The agent. */
void adm_limit_renew_term(adm_zone_rec_t *zone, uint32_t safe, adm_usec_t now);

/** Nothing was measured yet. The parent. */
void adm_limit_forget_term(adm_zone_rec_t *zone);

/** @return whether there was a term, and it is over, or cannot be one. */
bool adm_limit_is_past_term(const adm_zone_rec_t *zone, adm_usec_t now);

/** The agent is not at work: lower what was measured if its term is over. Any child. */
void adm_limit_fall_back(adm_zone_rec_t *zone, adm_usec_t now);

/** The zone has a share of a limit over servers: nothing yet. The parent. */
void adm_limit_begin_share(adm_zone_rec_t *zone);

/** No source says anything: the place gets another zone. The parent. */
void adm_limit_forget(adm_zone_rec_t *zone);

/** What an administrator said while the server ran holds no longer. The parent. */
void adm_limit_forget_live(adm_zone_rec_t *zone);

/** @return what happens to those who come; an unknown one of a torn segment is
 *  open. */
adm_mode_t adm_limit_mode(const adm_zone_rec_t *zone);

/** @return what the administrator says: while the server runs, or else in its
 *  configuration. */
uint32_t adm_limit_ordered(const adm_zone_rec_t *zone);

/** @return whether anything that an administrator said while the server ran holds
 *  instead of what is configured. */
bool adm_limit_is_live(const adm_zone_rec_t *zone);

/** @return what holds of what the sources say: what an administrator says while
 *  the server runs instead of what is configured or was measured, then the least.
 *  0 while the zone is paused. */
uint32_t adm_limit_least(const adm_zone_rec_t *zone);

/** @return the least of those that are this server's own: all but its share of a limit
 *  over many. 0 while the zone is paused. */
uint32_t adm_limit_least_own(const adm_zone_rec_t *zone);

/** @return whether the lease of the zone's share still holds. Reads the clock. */
bool adm_limit_has_lease(const adm_zone_rec_t *zone);

/** @return whether the zone has no share because its lease is over: who comes is
 *  rejected. */
bool adm_limit_is_cut_off(const adm_zone_rec_t *zone);

/** @return whether, in addition, there was no lease since the zone joined. */
bool adm_limit_has_no_lease_yet(const adm_zone_rec_t *zone);

/* Loads in sequence with `queued`: see adm_zone_begin_ticket_locked(). */

/** @return how many requests of the zone may run: the same, and one load where
 *  only the configuration has spoken. */
static inline uint32_t adm_limit_effective(const adm_zone_rec_t *zone)
{
    if (atomic_load(&zone->has_other_limits)) {
        return adm_limit_least(zone);
    }
    return atomic_load(&zone->limits[ADM_LIMIT_CONFIGURED]) - 1;
}

/** @return how many may wait in the zone, for a request of whose section this
 *  length is said. */
static inline uint32_t adm_limit_queue_length(const adm_zone_rec_t *zone,
                                              uint32_t said)
{
    uint32_t live = atomic_load(&zone->has_other_limits)
                        ? atomic_load(&zone->live_queue_length)
                        : 0;

    return live ? live - 1 : said;
}

/** @return whether who comes now is rejected. */
static inline bool adm_limit_is_draining(const adm_zone_rec_t *zone)
{
    return atomic_load(&zone->has_other_limits)
           && atomic_load(&zone->mode) == ADM_MODE_DRAIN;
}

/** @return whether fewer run in the zone than may. Exact under the zone's lock,
 *  without it a guess. */
static inline bool adm_limit_has_free_permit(const adm_zone_rec_t *zone)
{
    return atomic_load_explicit(&zone->active, memory_order_relaxed)
           < adm_limit_effective(zone);
}

/** @return what requests of the zone took lately, in microseconds. Under the zone's
 *  lock. */
uint64_t adm_limit_service_time(const adm_zone_rec_t *zone, adm_usec_t now);

/** @return an estimate: how long until a request behind @a queued others would
 *  run, by what requests took lately. Under the zone's lock. */
adm_usec_t adm_limit_drain_time(const adm_zone_rec_t *zone, uint32_t queued,
                                adm_usec_t now);

#endif
