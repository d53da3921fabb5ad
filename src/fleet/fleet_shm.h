/* fleet_shm.h - limits across servers, in shared memory: this server's share, the
 * connection to the engine, and what the engine replied.
 * Called by the agent's fleet_duty; fleet_view.h has the readers.
 *
 * docs/dev/fleet.md has the rules. Only these functions change the share of a zone,
 * except adm_segment_share(), which turns sharing on and off.
 */
#ifndef FLEET_SHM_H
#define FLEET_SHM_H

#include "core/adm_layout.h"
#include "fleet_view.h"

/** The engine's last reply for a zone, for the outputs only. Written by the agent
 *  alone; atomic. `who` can be any bytes: its reader terminates the names. */
typedef struct fleet_rec_t {
    atomic_uint reply[sizeof(law_fleet_reply_t) / sizeof(unsigned)];
    _Atomic adm_usec_t learns_until; /* on adm_clock_since_boot() */
    _Atomic adm_usec_t who_at;       /* time of `who`, same clock; 0: none */
    atomic_uint who_sequence;        /* odd while `who` is written */
    atomic_uint who[sizeof(law_fleet_who_t) / sizeof(unsigned)];
} __attribute__((aligned(ADM_CACHE_LINE))) fleet_rec_t;

_Static_assert(sizeof(law_fleet_reply_t) % sizeof(unsigned) == 0
                   && sizeof(law_fleet_who_t) % sizeof(unsigned) == 0,
               "replies and lists of servers are copied by words");

/** Statistics of the connection to the engine, and the salt of the server's id.
 *  Written by the agent alone; atomic. */
typedef struct fleet_engine_rec_t {
    atomic_uint state; /* fleet_engine_state_t */
    _Atomic uint64_t counts[FLEET_ENGINE_EVENTS];
    _Atomic uint64_t round_trip_usec; /* sum over FLEET_ENGINE_SYNC replies */
    _Atomic uint64_t round_trip_max_usec;
    _Atomic uint64_t salt; /* changes the id after another server used it */
} fleet_engine_rec_t;

/** @return the record of a zone; NULL if the zone's number is out of range. */
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
 * Promise (R1): lower the share to @a keep or to the permits out, whichever is
 * higher, and report the result. An expired share becomes 0, unless the fallback is
 * `keep`. Also sets which events wake the agent. Waits up to ADM_LOCK_BRIEF_USEC for
 * the zone's lock.
 *
 * @param keep  permits to keep; LAW_FLEET_AS_BEFORE: all
 * @param is_tight  other servers are short, so a released permit wakes the agent
 * @param work  filled: the zone's state that the promise is based on
 * @return APR_SUCCESS, or an error of adm_view_zone() with nothing changed.
 */
apr_status_t fleet_promise(adm_child_t *self, adm_zone_t zone, uint32_t keep,
                           bool is_tight, adm_usec_t now,
                           law_fleet_work_t *work);

/**
 * Apply a share of the engine, unless its lease has expired, and grant permits to
 * waiting requests. Waits up to ADM_LOCK_BRIEF_USEC for the zone's lock.
 *
 * @return APR_SUCCESS, or an error of adm_view_zone() with nothing changed; the next
 *         promise then tells the engine.
 */
apr_status_t fleet_apply(adm_child_t *self, adm_zone_t zone,
                         const law_fleet_share_t *share, adm_usec_t now);

/** Change the server's id, for this and all later agents, and erase the old id from
 *  its file: it might belong to another server, so no successor may use it. Changes
 *  nothing if the file cannot be truncated.
 *
 * @param id_fd  file with this server's id, open for writing; -1: none */
void fleet_renew_id(adm_segment_t *segment, const fleet_self_t *self,
                    int id_fd);

/** @return whether the zone's lease has expired. */
bool fleet_has_lapsed(const adm_segment_t *segment, adm_zone_t zone);

/* ---- for the outputs only; no lock ----------------------------------------- */

/** Reset the state of the connection. @a is_wanted: the agent needs an engine. */
void fleet_engine_begin(adm_child_t *self, bool is_wanted);

/** Count an event, and set the state that follows from it. */
void fleet_engine_count(adm_child_t *self, fleet_engine_event_t event);

/** Count a reply, and its round trip of @a took_usec. */
void fleet_engine_count_sync(adm_child_t *self, adm_usec_t took_usec);

/** Store a reply. */
void fleet_note(adm_child_t *self, adm_zone_t zone,
                const law_fleet_reply_t *reply);

/** Store the list of the servers that share a zone's limit. */
void fleet_engine_note_servers(adm_child_t *self, adm_zone_t zone,
                               const law_fleet_who_t *who);

#endif
