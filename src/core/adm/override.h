/* adm/override.h - what an administrator says while the server runs.
 * Included by adm.h.
 */
#ifndef ADM_OVERRIDES_H
#define ADM_OVERRIDES_H

#include "base.h"

/** What happens to those who come to a zone. */
typedef enum adm_mode_t {
    ADM_MODE_OPEN,
    ADM_MODE_PAUSE, /* nobody gets a permit, who comes waits */
    ADM_MODE_DRAIN, /* who comes is rejected, who waits is served */
    ADM_MODES       /* how many there are */
} adm_mode_t;

/** @return its word: open, pause, drain. */
const char *adm_mode_name(adm_mode_t mode);

/** For a number: what the configuration says again; leave it as it is. */
#define ADM_OVERRIDE_NONE UINT32_MAX
#define ADM_OVERRIDE_KEEP (UINT32_MAX - 1)

/** What holds of a zone instead of what is configured. */
typedef struct adm_override_t {
    uint32_t limit;        /* or ADM_OVERRIDE_NONE, ADM_OVERRIDE_KEEP */
    uint32_t queue_length; /* the same */
    uint32_t mode;         /* adm_mode_t, or ADM_OVERRIDE_KEEP */
} adm_override_t;

/**
 * Say how many may run and wait in a zone, and whether at all, for all children
 * and at once: permits that are free by that are handed out. Holds until the
 * zone's configured numbers are others at a load, or the segment ends. Waits
 * briefly.
 *
 * @param before  what held: limit and queue length in numbers
 * @param after   the same, what holds now.
 * @return APR_SUCCESS, or as adm_view_zone(): then nothing was changed.
 */
apr_status_t adm_override_set(adm_child_t *child, adm_zone_t zone,
                              const adm_override_t *wanted, adm_usec_t now,
                              adm_override_t *before, adm_override_t *after);

#endif
