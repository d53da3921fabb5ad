/* auto_shm.h - automatic limits in shared memory: measurements of a zone, the state of
 * the algorithm, and the limit.
 * Called by the agent's auto_duty; auto_view.h has the readers.
 */
#ifndef AUTO_SHM_H
#define AUTO_SHM_H

#include "core/adm_layout.h"
#include "core/adm_limit.h"
#include "auto_view.h"
#include "law_tune_state.h"

/** State of an automatic limit. Written by the agent alone; atomic. `state` can be any
 *  bytes, so readers check it. */
typedef struct auto_rec_t {
    atomic_uint sequence; /* odd while the agent writes the state */
    atomic_uint of_began; /* the zone's `measured_began` when it was written */
    atomic_uint state[sizeof(law_tune_t) / sizeof(unsigned)]; /* law_tune_t */
} __attribute__((aligned(ADM_CACHE_LINE))) auto_rec_t;

_Static_assert(sizeof(law_tune_t) % sizeof(unsigned) == 0,
               "the state of a limit is copied by words");

/** @return the record of a zone; NULL if the zone's number is out of range. */
static inline auto_rec_t *auto_rec_at(const adm_segment_t *segment,
                                      adm_zone_t zone)
{
    return adm_part_zone_at(segment, ADM_PART_AUTO, sizeof(auto_rec_t),
                            zone.idx);
}

/** Cumulative counters of a zone. The difference of two copies is the work in between. */
typedef struct auto_work_t {
    uint32_t limit; /* in force */
    uint32_t active;
    uint32_t queued;
    uint64_t served;
    uint64_t service_usec;         /* sum; each request times its permits */
    uint64_t service_square_msec2; /* sum of their squares */
    uint64_t queued_usec;          /* time in which a request waited */
    adm_usages_t programs;
    uint64_t peak_kb; /* largest program since the last call, not cumulative */
} auto_work_t;

/**
 * Copy a zone's counters and the sizes of its programs. Waits up to
 * ADM_LOCK_BRIEF_USEC for the zone's lock.
 *
 * @param sizes  filled with up to @a room entries: KiB of each program that the agent has
 *               sampled; for a program with several permits, an equal part per permit
 * @param count  set to the number of entries
 * @return APR_SUCCESS, or an error of the lock: then only limit, active and queued were
 *         written.
 */
apr_status_t auto_sample(adm_child_t *self, adm_zone_t zone, adm_usec_t now,
                         auto_work_t *work, uint32_t *sizes, uint32_t room,
                         uint32_t *count);

/** @return whether a request runs or waits in the zone. No lock. */
bool auto_is_busy(const adm_segment_t *segment, adm_zone_t zone);

/** Copy the state that this agent or the previous one wrote. No lock.
 *  @return false if the zone has no state, or it was being written. */
bool auto_read(const adm_segment_t *segment, adm_zone_t zone,
               law_tune_t *state);

/** Store the state. @a safe: number of programs that certainly fit into memory; 0:
 *  unknown. Without another call, the limit falls to @a safe after 3 s. No lock. */
void auto_write(adm_segment_t *segment, adm_zone_t zone,
                const law_tune_t *state, uint32_t safe, adm_usec_t now);

/** @return the automatic limit; ADM_LIMIT_NONE: the zone has none. */
uint32_t auto_limit(const adm_segment_t *segment, adm_zone_t zone);

/** Set the limit, and grant the permits that it adds. Waits up to ADM_LOCK_BRIEF_USEC
 *  for the zone's lock.
 *  @return false if the lock was busy: the limit is set, but no permits were granted;
 *  call again. */
bool auto_set(adm_child_t *self, adm_zone_t zone, uint32_t limit,
              adm_usec_t now);

/** Arrange that the first request of any of the zones wakes the agent. Waits up to
 *  ADM_LOCK_BRIEF_USEC for each zone's lock.
 *  @return whether the agent can sleep; false if a zone is busy or locked. */
bool auto_wake_on_request(adm_segment_t *segment, const adm_zone_t *zones,
                          uint32_t count, adm_usec_t now);

#endif
