/* adm_limit.c - a zone's limit, which has several sources.
 * Called by adm_zone and adm_ticket, and by the parent to configure.
 */
#include "adm_layout.h"
#include "adm_limit.h"

void adm_limit_set(adm_zone_rec_t *zone, enum adm_limit_source_t source,
                   uint32_t limit)
{
    if (source != ADM_LIMIT_CONFIGURED && limit != ADM_LIMIT_NONE) {
        atomic_store(&zone->has_other_limits, 1);
    }
    atomic_store(&zone->limits[source], limit + 1); /* ADM_LIMIT_NONE becomes
                                                     * 0 */
}

/* Time that a new server waits for its first share. */
#define FIRST_LEASE_USEC (3 * ADM_USEC_PER_SEC)

void adm_limit_begin_share(adm_zone_rec_t *zone)
{
    /* A share of 0, until the agent has reached the engine. */
    atomic_store(&zone->share_bound, UINT32_MAX);
    atomic_store(&zone->share_had_lease, 0);
    atomic_store(&zone->share_until, adm_clock_since_boot() + FIRST_LEASE_USEC);
    adm_limit_set(zone, ADM_LIMIT_SHARE, 0);
}

void adm_limit_clear(adm_zone_rec_t *zone)
{
    unsigned source;

    for (source = 0; source < ADM_LIMIT_SOURCES; source++) {
        atomic_store(&zone->limits[source], 0);
    }
    adm_limit_cancel_term(zone);
    atomic_store(&zone->queue_length_override, 0);
    atomic_store(&zone->mode, ADM_MODE_OPEN);
    atomic_store(&zone->has_other_limits, 0);
    atomic_store(&zone->limit_changed_second, 0);
    atomic_store(&zone->limit_before, 0);
}

uint32_t adm_limit_of_source(const adm_zone_rec_t *zone,
                             enum adm_limit_source_t source)
{
    return atomic_load(&zone->limits[source]) - 1;
}

void adm_limit_clear_overrides(adm_zone_rec_t *zone)
{
    adm_limit_set(zone, ADM_LIMIT_OVERRIDE, ADM_LIMIT_NONE);
    atomic_store(&zone->queue_length_override, 0);
    atomic_store(&zone->mode, ADM_MODE_OPEN);
}

adm_mode_t adm_limit_mode(const adm_zone_rec_t *zone)
{
    unsigned mode = atomic_load(&zone->mode);

    return mode < ADM_MODES ? (adm_mode_t)mode : ADM_MODE_OPEN;
}

/* As long as an agent without a heartbeat counts as at work (adm_agent.c). */
#define TERM_USEC (3 * ADM_USEC_PER_SEC)

void adm_limit_renew_term(adm_zone_rec_t *zone, uint32_t safe, adm_usec_t now)
{
    atomic_store(&zone->measured_safe, safe);
    atomic_store(&zone->measured_until, now + TERM_USEC);
}

void adm_limit_cancel_term(adm_zone_rec_t *zone)
{
    atomic_store(&zone->measured_until, 0);
    atomic_store(&zone->measured_safe, 0);
}

bool adm_limit_is_past_term(const adm_zone_rec_t *zone, adm_usec_t now)
{
    adm_usec_t until = atomic_load(&zone->measured_until);

    /* @a now might have been read before the term was renewed. */
    return until != 0 && (until < now || until > now + 2 * TERM_USEC);
}

void adm_limit_fall_back(adm_zone_rec_t *zone, adm_usec_t now)
{
    uint32_t safe = atomic_load(&zone->measured_safe);
    unsigned limit = atomic_load(&zone->limits[ADM_LIMIT_AUTO]);

    /* Compare and swap, so that a value from an agent that continues is not
     * lost. */
    if (limit != 0 && safe != 0 && limit - 1 > safe
        && adm_limit_is_past_term(zone, now)) {
        atomic_compare_exchange_strong(&zone->limits[ADM_LIMIT_AUTO], &limit,
                                       safe + 1);
    }
}

bool adm_limit_has_lease(const adm_zone_rec_t *zone)
{
    return adm_clock_since_boot() < atomic_load(&zone->share_until);
}

/* @return the share in force; after its lease, what the fallback sets. The
 * lease is checked at each use, so that every process stops using an expired
 * share, even if the agent is dead or stopped. */
static uint32_t share_of(const adm_zone_rec_t *zone)
{
    uint32_t share = adm_limit_of_source(zone, ADM_LIMIT_SHARE);

    if (share == ADM_LIMIT_NONE || adm_limit_has_lease(zone)) {
        return share;
    }
    switch (atomic_load(&zone->share_fallback)) {
    case ADM_FALLBACK_REJECT:
        return 0;
    case ADM_FALLBACK_OPEN:
        return ADM_LIMIT_NONE;
    default:
        return share;
    }
}

bool adm_limit_is_cut_off(const adm_zone_rec_t *zone)
{
    return atomic_load(&zone->has_other_limits) && share_of(zone) == 0
           && !adm_limit_has_lease(zone);
}

bool adm_limit_has_no_lease_yet(const adm_zone_rec_t *zone)
{
    return adm_limit_is_cut_off(zone) && !atomic_load(&zone->share_had_lease);
}

uint32_t adm_limit_compute(const adm_zone_rec_t *zone)
{
    return adm_lesser(adm_limit_without_share(zone), share_of(zone));
}

uint32_t adm_limit_without_share(const adm_zone_rec_t *zone)
{
    uint32_t own = adm_limit_of_source(zone, ADM_LIMIT_OVERRIDE);

    if (atomic_load(&zone->mode) == ADM_MODE_PAUSE) {
        return 0;
    }
    if (own == ADM_LIMIT_NONE) {
        own = adm_lesser(adm_limit_of_source(zone, ADM_LIMIT_CONFIGURED),
                         adm_limit_of_source(zone, ADM_LIMIT_AUTO));
    }
    return own;
}
