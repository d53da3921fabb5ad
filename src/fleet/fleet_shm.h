/* fleet_shm.h - this server's share of a limit over many.
 * Called by src/agent; adm_fleet_view() is in adm.h.
 *
 * docs/dev/fleet.md has the rules. Only these functions touch the share of a zone, but for
 * its beginning and end (adm_segment_share()).
 */
#ifndef FLEET_SHM_H
#define FLEET_SHM_H

#include "core/adm.h"
#include "law_fleet.h"

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

/** @return whom this server follows, as adm_fleet_follow() has it. */
const char *adm_fleet_predecessor(const adm_segment_t *segment);

/** From now on this server, with all its agents to come, has another id. No server
 *  follows the one that it had, which may belong to another server.
 *
 * @param id_fd  the file that has this server's id, open for writing; -1: there is none */
void adm_fleet_renew_id(adm_segment_t *segment, int id_fd);

/** @return whether the engine has ever answered for the zone. */
bool adm_fleet_was_answered(const adm_segment_t *segment, adm_zone_t zone);

/** @return whether the zone's lease is over. */
bool adm_fleet_has_lapsed(const adm_segment_t *segment, adm_zone_t zone);

#endif
