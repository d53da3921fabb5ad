/* adm_recycle.h - whose turn it is to end.
 * Called by adm_view.
 *
 * The rest of it is in adm.h.
 */
#ifndef ADM_RECYCLE_H
#define ADM_RECYCLE_H

#include "adm_layout.h"

/** @return how many children are away. */
uint32_t adm_recycle_away(const adm_segment_t *segment);

#endif
