/* fleet_shm.h - this server's share of a limit over many.
 * Called by fleet_duty and fleet; what is shown is in fleet_view.h.
 *
 * docs/dev/fleet.md has the rules. Only these functions touch the share of a zone, but for
 * its beginning and end (adm_segment_share()).
 */
#ifndef FLEET_SHM_H
#define FLEET_SHM_H

#include "core/adm_layout.h"
#include "fleet_view.h"

/** What the engine last said of a zone, to be shown. By the agent alone; nothing is
 *  decided by it. `who` may be any bytes: a process that shows it ends the names. */
typedef struct fleet_rec_t {
    atomic_uint limit, granted, servers, reserved, wanted;
    _Atomic adm_usec_t learns_until; /* on adm_clock_of_leases() */
    _Atomic adm_usec_t who_at;       /* of `who`, on the same; 0: none yet */
    atomic_uint who_sequence;        /* odd while it is written, else even */
    atomic_uint
        who[sizeof(law_fleet_who_t) / sizeof(unsigned)]; /* law_fleet_who_t */
} __attribute__((aligned(ADM_CACHE_LINE))) fleet_rec_t;

_Static_assert(sizeof(law_fleet_who_t) % sizeof(unsigned) == 0,
               "those who share a limit are copied by words");

/** What happened between this server and the engine, to be shown. By the agent alone;
 *  atomic. */
typedef struct fleet_engine_rec_t {
    atomic_uint state; /* adm_engine_state_t */
    _Atomic uint64_t counts[ADM_ENGINE_EVENTS];
    _Atomic uint64_t round_trip_usec; /* sum of ADM_ENGINE_SYNC */
    _Atomic uint64_t round_trip_max_usec;
    _Atomic uint64_t salt; /* of the id, once another server had that */
} fleet_engine_rec_t;

/** @return the record of a zone; NULL for a number that cannot be. */
static inline fleet_rec_t *fleet_rec_at(const adm_segment_t *segment,
                                        adm_zone_t zone)
{
    return adm_part_zone_at(segment, ADM_PART_FLEET, sizeof(fleet_rec_t),
                            zone.idx);
}

static inline fleet_engine_rec_t *
fleet_engine_rec_of(const adm_segment_t *segment)
{
    return segment->parts[ADM_PART_FLEET].of_server;
}

/**
 * Promise (R1): lower the share to what is kept of it or runs, and say what is promised.
 * A share whose lease is over is 0 from then on, unless the fallback keeps it. From now
 * on the agent is woken for what changes that. Waits briefly for the zone's lock.
 *
 * @param keep  how much of the share is kept at most, if not more runs
 * @param is_tight  others are short: a permit that falls idle is news
 * @param work  what the promise is of: filled
 * @return APR_SUCCESS, or as adm_view_zone(): then nothing was changed.
 */
apr_status_t adm_fleet_promise(adm_child_t *self, adm_zone_t zone,
                               uint32_t keep, bool is_tight, adm_usec_t now,
                               law_fleet_work_t *work);

/**
 * What the engine said holds from now on, unless its lease is over meanwhile; waiters
 * start. Waits briefly for the zone's lock.
 *
 * @return APR_SUCCESS, or as adm_view_zone(): then nothing was changed, and what is
 *         promised next says so.
 */
apr_status_t adm_fleet_apply(adm_child_t *self, adm_zone_t zone,
                             const law_fleet_share_t *share, adm_usec_t now);

/** Note what the engine said, to be shown. */
void adm_fleet_note(adm_child_t *self, adm_zone_t zone,
                    const law_fleet_reply_t *reply);

/** From now on this server, with all its agents to come, has another id. No server
 *  follows the one that it had, which may belong to another server.
 *
 * @param id_fd  the file that has this server's id, open for writing; -1: there is none */
void adm_fleet_renew_id(adm_segment_t *segment, const adm_fleet_self_t *self,
                        int id_fd);

/** @return whether the zone's lease is over. */
bool adm_fleet_has_lapsed(const adm_segment_t *segment, adm_zone_t zone);

#endif
