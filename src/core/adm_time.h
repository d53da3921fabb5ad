/* adm_time.h - the type of all times and durations.
 * Included by adm.h, and so by all.
 */
#ifndef ADM_TIME_H
#define ADM_TIME_H

#include <stdint.h>

/** Microseconds on a clock that never jumps. */
typedef int64_t adm_usec_t;

#define ADM_USEC_PER_SEC INT64_C(1000000)
#define ADM_USEC_PER_MSEC INT64_C(1000)

#endif
