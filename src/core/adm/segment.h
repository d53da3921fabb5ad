/* adm/segment.h - the segment, as the parent makes and configures it.
 * Included by adm.h, which is what others include.
 */
#ifndef ADM_PUBLIC_SEGMENT_H
#define ADM_PUBLIC_SEGMENT_H

#include "base.h"

/** What applies to a zone whose share of a limit across servers has no lease. */
typedef enum adm_fallback_t {
    ADM_FALLBACK_NONE,   /* the limit is not shared */
    ADM_FALLBACK_KEEP,   /* the share as it was */
    ADM_FALLBACK_REJECT, /* nothing */
    ADM_FALLBACK_OPEN    /* the zone's other limits alone */
} adm_fallback_t;

/** Capacity of a segment. Fixed for its life; unused room costs no memory. */
typedef struct adm_sizes_t {
    uint32_t zones;
    uint32_t children;
    uint32_t tickets;     /* rounded up to whole chunks */
    uint32_t flow_tables; /* zones that may use flows; 0 is allowed */
} adm_sizes_t;

/** Version of everything in the segment and of its handle, with their sizes: part
 *  of the key under which a parent keeps a segment over restarts, also over those
 *  that load another build of the module. */
uint32_t adm_segment_version(void);

/**
 * Make a segment: anonymous shared memory, inherited by every later child.
 *
 * The parent, before the first fork. The handle and the mapping live in
 * @a pool; nothing of the segment is unmapped while a child may use it, so
 * give a pool that lives as long as the process.
 *
 * @return APR_SUCCESS, APR_EINVAL (a size of 0 or beyond what the layout can
 *         number) or the system's reason.
 */
apr_status_t adm_segment_create(adm_segment_t **segment,
                                const adm_sizes_t *sizes, apr_pool_t *pool);

/** The room that it was created with. */
adm_sizes_t adm_segment_sizes(const adm_segment_t *segment);

/** How many bytes of address space the segment takes. */
size_t adm_segment_bytes(const adm_segment_t *segment);

/** Give the mapping back. Only for tests and for a segment no child has seen. */
void adm_segment_destroy(adm_segment_t *segment);

/**
 * Begin a configuration load: zones that are not configured before the next
 * adm_segment_end_load() are retired then.
 */
void adm_segment_begin_load(adm_segment_t *segment);

/**
 * Find the zone called @a name, or make it, and set its numbers. The new
 * numbers hold at once for every child of every generation.
 *
 * The parent, between begin_load and end_load. Takes no lock. The name is
 * copied into private memory.
 *
 * @return APR_SUCCESS, or ADM_NO_ZONE when the table is full (of zones that
 *         are configured or were until lately).
 */
apr_status_t adm_segment_configure(adm_segment_t *segment, const char *name,
                                   uint32_t limit, uint32_t queue_length,
                                   adm_zone_t *zone);

/**
 * The same for a zone whose limit finds itself from @a min to @a max: the agent
 * sets it. Until it does, the limit stays what it was; a new one is @a min.
 */
apr_status_t adm_segment_configure_auto(adm_segment_t *segment,
                                        const char *name, uint32_t min,
                                        uint32_t max, uint32_t queue_length,
                                        adm_zone_t *zone);

/**
 * Say whether a zone that was just configured tells requests apart by key, cost
 * and priority. If it does not, they are not looked at.
 *
 * The parent, between begin_load and end_load. Takes no lock.
 *
 * @return APR_SUCCESS, or ADM_NO_FLOWS when there are no more flow tables: then
 *         the zone does without.
 */
apr_status_t adm_segment_use_flows(adm_segment_t *segment, adm_zone_t zone,
                                   bool uses_flows);

/**
 * Say whether a zone that this load has configured has a share of a limit over many
 * servers. At first that is 0; the agent sets it.
 *
 * The parent, before it forks. Takes no lock.
 */
void adm_segment_share(adm_segment_t *segment, adm_zone_t zone,
                       adm_fallback_t fallback);

#define ADM_SECRET_LENGTH 16

/** @return ADM_SECRET_LENGTH random bytes, the same in all processes of the server
 *  for the life of the segment; for the hash of keys. Not in the segment. */
const unsigned char *adm_segment_secret(const adm_segment_t *segment);

/**
 * End a configuration load.
 *
 * @param worker_cap         workers that requests of all zones may occupy
 * @param orphan_hold_usec   how long the permit of a dead child is kept at
 *                           most for a program that it left behind
 */
void adm_segment_end_load(adm_segment_t *segment, uint32_t worker_cap,
                          adm_usec_t orphan_hold_usec);

/** Count a request that runs without a permit because none could be counted. */
void adm_segment_count_unlimited(adm_segment_t *segment);

/** Count one that came with a ticket that is forged or has ended. */
void adm_segment_count_ignored(adm_segment_t *segment);

#endif
