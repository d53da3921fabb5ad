/* auto_shm.h - limits that find themselves: what the agent measures, and sets.
 * Called by auto_duty and auto.
 */
#ifndef ADM_AUTO_H
#define ADM_AUTO_H

#include "core/adm_layout.h"
#include "core/adm_limit.h"
#include "auto_view.h"
#include "law_tune_state.h"

/** A zone whose limit finds itself. `state` may be any bytes: a process that reads it
 *  checks it. Written by the agent alone; atomic. */
typedef struct auto_rec_t {
    atomic_uint sequence; /* odd while it writes what follows, else even */
    atomic_uint of_began; /* the zone's `measured_began` that the state is of */
    atomic_uint state[sizeof(law_tune_t) / sizeof(unsigned)]; /* law_tune_t */
} __attribute__((aligned(ADM_CACHE_LINE))) auto_rec_t;

_Static_assert(sizeof(law_tune_t) % sizeof(unsigned) == 0,
               "the state of a limit is copied by words");

/** @return the record of a zone; NULL for a number that cannot be. */
static inline auto_rec_t *auto_rec_at(const adm_segment_t *segment,
                                      adm_zone_t zone)
{
    return adm_part_zone_at(segment, ADM_PART_AUTO, sizeof(auto_rec_t),
                            zone.idx);
}

/** What a zone has done, from its beginning: differences tell what it does. */
typedef struct adm_auto_work_t {
    uint32_t limit; /* in force */
    uint32_t active;
    uint32_t queued;
    uint64_t served;
    uint64_t service_usec;         /* each times its permits */
    uint64_t service_square_msec2; /* of these */
    uint64_t queued_usec;          /* time in which somebody waited */
    adm_usages_t programs;
    uint64_t peak_kb; /* largest of the programs since the last look */
} adm_auto_work_t;

/**
 * Look at a zone: what it has done, and how large its programs are.
 *
 * @param sizes  room for @a room, filled with KiB of each that the agent has sampled;
 *               of one that costs several permits a part for each
 * @param count  how many these are
 * @return APR_SUCCESS, or why the zone's lock could not be had briefly: then only
 *         limit, active and queued were written.
 */
apr_status_t adm_auto_look(adm_child_t *self, adm_zone_t zone, adm_usec_t now,
                           adm_auto_work_t *work, uint32_t *sizes,
                           uint32_t room, uint32_t *count);

/** @return whether anything runs or waits in the zone. No lock. */
bool adm_auto_is_busy(const adm_segment_t *segment, adm_zone_t zone);

/** @return whether the limit of this zone is to find itself. No lock. */
bool adm_auto_is_wanted(const adm_segment_t *segment, adm_zone_t zone);

/** Copy the state that the agent before this one left.
 *  @return false: there is none of this zone, or it was being written. */
bool adm_auto_read(const adm_segment_t *segment, adm_zone_t zone,
                   law_tune_t *state);

/** Store the state, and how many surely fit; 0: not known. Without another look the limit
 *  falls to that in three seconds. Takes no lock. */
void adm_auto_write(adm_segment_t *segment, adm_zone_t zone,
                    const law_tune_t *state, uint32_t safe, adm_usec_t now);

/** @return what is said of the limit; ADM_LIMIT_NONE: nothing. */
uint32_t adm_auto_limit(const adm_segment_t *segment, adm_zone_t zone);

/** Set the limit, and hand out what it allows. Waits briefly for the zone.
 *  @return false: its lock could not be had, so nobody was told; say it again. */
bool adm_auto_set(adm_child_t *self, adm_zone_t zone, uint32_t limit,
                  adm_usec_t now);

/** The agent sleeps until it is woken by the first request of a zone that is not
 *  busy. Waits briefly for each zone. @return false: one is busy, or locked. */
bool adm_auto_doze(adm_segment_t *segment, const adm_zone_t *zones,
                   uint32_t count, adm_usec_t now);

#endif
