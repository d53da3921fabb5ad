/* adm_check.h - verifies the invariants of docs/dev/shared-memory.md. */
#ifndef ADM_CHECK_H
#define ADM_CHECK_H

#include "core/adm.h"

/** No other process may be at work. @return NULL, or what is wrong, in static memory. */
const char *adm_check(adm_segment_t *segment);

#endif
