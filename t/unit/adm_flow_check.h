/* adm_flow_check.h - verify what a zone knows of its keys.
 * Called by adm_check.
 */
#ifndef ADM_FLOW_CHECK_H
#define ADM_FLOW_CHECK_H

#include "adm_layout.h"

/** Of a zone whose queue is in order. @return NULL, or what is wrong. */
const char *adm_flow_check(const adm_segment_t *segment,
                           const adm_zone_rec_t *zone);

#endif
