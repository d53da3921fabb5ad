/* adm_weigh.h - what kinds of programs cost: what the agent has learnt.
 * Called by src/agent.
 *
 * What requests ask is in adm.h.
 */
#ifndef ADM_WEIGH_H
#define ADM_WEIGH_H

#include "adm_layout.h"

/** Copy what the agent before this one knew; zeros, if that was of another limit. */
void adm_weigh_read(const adm_segment_t *segment, adm_zone_t zone,
                    law_weigh_t *weigh);

/** From now on requests cost by this. Takes no lock. */
void adm_weigh_write(adm_segment_t *segment, adm_zone_t zone,
                     const law_weigh_t *weigh);

#endif
