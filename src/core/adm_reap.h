/* adm_reap.h - take back what the dead held.
 * Called by adm_round and adm_stopped, with no lock held.
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

/** Lock a zone, waiting briefly, once in a round in vain. NULL: it was skipped. */
adm_zone_rec_t *adm_reap_lock(adm_reap_round_t *round, uint32_t zone_idx);

/** What is remembered of a ticket while its zone is not locked. */
typedef struct adm_reap_found_t {
    uint32_t ticket_idx;
    uint32_t child_idx;
    uint64_t arrival;
    adm_usec_t until; /* of an ORPHANED one: it is given up then */
} adm_reap_found_t;

/** What is done with some tickets of some zones. */
typedef struct adm_reap_task_t {
    bool (*concerns)(const adm_zone_rec_t *);    /* asked without the lock */
    bool (*is_wanted)(const adm_ticket_rec_t *); /* asked with it */
    /* Called without it; may make system calls. */
    void (*work)(adm_reap_round_t *, uint32_t zone_idx,
                 const adm_reap_found_t *);
} adm_reap_task_t;

/** Do it with each ticket that is wanted, but for those of zones that are skipped. */
void adm_reap_each(adm_reap_round_t *round, const adm_reap_task_t *task);

/** Lock and unlock each zone that is wanted, all if @a is_wanted is NULL. */
void adm_reap_visit_zones(adm_reap_round_t *round,
                          bool (*is_wanted)(const adm_zone_rec_t *));

/** adm_reap() as part of a round. */
uint32_t adm_reap_all(adm_reap_round_t *round, const adm_child_t *self);

/** Find dead children, take back what they held; but for zones whose lock is held
 *  for long. @return how many tickets. */
uint32_t adm_reap(adm_segment_t *segment, const adm_child_t *self,
                  adm_usec_t now);

/** Free the permits of orphans whose programs have ended, or whose time is up.
 *  Makes system calls for each orphan. */
void adm_reap_orphans(adm_reap_round_t *round);

#endif
