/* adm_reap.h - reclaim the permits of dead children and of ended programs.
 * Called by adm_round, with no lock held.
 */
#ifndef ADM_REAP_H
#define ADM_REAP_H

#include "adm_layout.h"

/* One visit to all zones. A zone whose lock is held by a stopped process is
 * skipped, so that it does not delay the others. */
typedef struct adm_reap_round_t {
    adm_segment_t *segment;
    adm_usec_t now;
    bool is_incomplete; /* a zone was skipped, its lock was held */
} adm_reap_round_t;

/** Lock and unlock the zones for which @a is_wanted returns true; NULL: all.
 *  Locking repairs a zone whose owner died; unlocking grants the permits of a
 *  raised limit. */
void adm_reap_visit_zones(adm_reap_round_t *round,
                          bool (*is_wanted)(const adm_zone_rec_t *));

/** Find dead children and reclaim their permits, except in zones whose lock is
 *  held for long. @return the number of tickets reclaimed. */
uint32_t adm_reap(adm_reap_round_t *round, const adm_child_t *self);

/** Free the permits of orphans whose programs have ended, or whose grace period
 *  is over. Makes system calls for each orphan. */
void adm_reap_orphans(adm_reap_round_t *round);

#endif
