/* adm_reap.h - take back what the dead held.
 * Called by adm_round, with no lock held.
 */
#ifndef ADM_REAP_H
#define ADM_REAP_H

#include "adm_layout.h"

/* One look at all zones. Somebody may have been stopped with the lock of one:
 * that must not keep this process from the others. */
typedef struct adm_reap_round_t {
    adm_segment_t *segment;
    adm_usec_t now;
    bool is_incomplete; /* a zone was skipped, because its lock was held */
} adm_reap_round_t;

/** Lock and unlock each zone that is wanted, all if @a is_wanted is NULL. */
void adm_reap_visit_zones(adm_reap_round_t *round,
                          bool (*is_wanted)(const adm_zone_rec_t *));

/** Find dead children, take back what they held; but for zones whose lock is held
 *  for long. @return how many tickets. */
uint32_t adm_reap(adm_reap_round_t *round, const adm_child_t *self);

/** Free the permits of orphans whose programs have ended, or whose time is up.
 *  Makes system calls for each orphan. */
void adm_reap_orphans(adm_reap_round_t *round);

#endif
