/* adm/segment.h - create and configure the segment.
 * Included by adm.h. Include adm.h, not this file.
 */
#ifndef ADM_PUBLIC_SEGMENT_H
#define ADM_PUBLIC_SEGMENT_H

#include "base.h"

/** What applies to a zone while its share of a limit across servers has no
 *  lease. */
typedef enum adm_fallback_t {
    ADM_FALLBACK_NONE,   /* the limit is not shared */
    ADM_FALLBACK_KEEP,   /* the last share */
    ADM_FALLBACK_REJECT, /* no permits */
    ADM_FALLBACK_OPEN    /* only the zone's other limits */
} adm_fallback_t;

/** Capacity of a segment. Fixed for its life; what is unused costs no
 *  memory. */
typedef struct adm_sizes_t {
    uint32_t zones;
    uint32_t children;
    uint32_t tickets;     /* rounded up to whole chunks */
    uint32_t flow_tables; /* zones that can use flows; can be 0 */
} adm_sizes_t;

/** @return a number that differs between builds of the module whose segments
 *  differ: ADM_LAYOUT_VERSION and the sum of all record sizes. A parent keeps a
 *  segment across restarts only for builds with the same number. */
uint32_t adm_segment_version(void);

/**
 * Create a segment: anonymous shared memory, inherited by every later child.
 *
 * Only for the parent, before the first fork. The handle is allocated from
 * @a pool, which must live as long as the process: children use the segment
 * until they exit.
 *
 * @return APR_SUCCESS, APR_EINVAL (a size is out of range) or the system's
 *         reason
 */
apr_status_t adm_segment_create(adm_segment_t **segment,
                                const adm_sizes_t *sizes, apr_pool_t *pool);

/** @return the sizes that the segment was created with. */
adm_sizes_t adm_segment_sizes(const adm_segment_t *segment);

/** @return the size of the segment's mapping, in bytes. */
size_t adm_segment_bytes(const adm_segment_t *segment);

/** Unmap the segment. Only for tests, and for a segment that no child has
 *  seen. */
void adm_segment_destroy(adm_segment_t *segment);

/** Start a configuration load. Zones that are not configured before the next
 *  adm_segment_end_load() are retired then. */
void adm_segment_begin_load(adm_segment_t *segment);

/**
 * Find the zone called @a name, or create it, and set its numbers. They apply
 * immediately, to every child of every generation.
 *
 * Only for the parent, between begin_load and end_load. Takes no lock. The name
 * is copied into private memory.
 *
 * @param limit     the limit; if it is automatic, its maximum
 * @param auto_min  minimum of an automatic limit, which the agent sets; 0: the
 *                  limit is fixed. Until the agent has set it, the previous
 *                  limit applies, within these bounds; a new zone starts with
 *                  @a auto_min.
 * @return APR_SUCCESS, or ADM_NO_ZONE if the table is full of zones that are
 *         configured or were until recently
 */
apr_status_t adm_segment_configure(adm_segment_t *segment, const char *name,
                                   uint32_t limit, uint32_t auto_min,
                                   uint32_t queue_length, adm_zone_t *zone);

/**
 * Set whether a zone that was just configured uses flows: keys, costs and
 * priorities. Without flows, requests' values for these are ignored.
 *
 * Only for the parent, between begin_load and end_load. Takes no lock.
 *
 * @return APR_SUCCESS, or ADM_NO_FLOWS if no flow table is left: then the zone
 *         has no flows
 */
apr_status_t adm_segment_use_flows(adm_segment_t *segment, adm_zone_t zone,
                                   bool uses_flows);

/**
 * Set whether a zone that this load has configured has a share of a limit
 * across servers. The share starts at 0; the agent sets it.
 *
 * Only for the parent, before it forks. Takes no lock.
 */
void adm_segment_share(adm_segment_t *segment, adm_zone_t zone,
                       adm_fallback_t fallback);

#define ADM_SECRET_LENGTH 16

/** @return ADM_SECRET_LENGTH random bytes for the hash of keys, the same in all
 *  processes of the server for the life of the segment. Private memory. */
const unsigned char *adm_segment_secret(const adm_segment_t *segment);

/**
 * End a configuration load.
 *
 * @param worker_cap        workers that requests of all zones may occupy
 * @param orphan_hold_usec  grace period: longest time that a permit is kept for
 *                          a program whose child is dead
 */
void adm_segment_end_load(adm_segment_t *segment, uint32_t worker_cap,
                          adm_usec_t orphan_hold_usec);

/** Count a request that runs without a permit because of a fault. */
void adm_segment_count_unlimited(adm_segment_t *segment);

/** Count a request that came with a forged or ended ticket. */
void adm_segment_count_ignored(adm_segment_t *segment);

#endif
