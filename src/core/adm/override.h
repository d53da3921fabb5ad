/* adm/override.h - an administrator's overrides on a running server.
 * Included by adm.h.
 */
#ifndef ADM_OVERRIDES_H
#define ADM_OVERRIDES_H

#include "base.h"

/** What happens to requests that enter a zone. */
typedef enum adm_mode_t {
    ADM_MODE_OPEN,
    ADM_MODE_PAUSE, /* no request gets a permit, new ones wait */
    ADM_MODE_DRAIN, /* new ones are rejected, waiting ones served */
    ADM_MODES       /* number of modes */
} adm_mode_t;

/** @return its name: open, pause, drain. */
const char *adm_mode_name(adm_mode_t mode);

/** Instead of a number: the configured one applies again; do not change it. */
#define ADM_OVERRIDE_NONE UINT32_MAX
#define ADM_OVERRIDE_KEEP (UINT32_MAX - 1)

/** Values that apply to a zone instead of the configured ones. */
typedef struct adm_override_t {
    uint32_t limit;        /* or ADM_OVERRIDE_NONE, ADM_OVERRIDE_KEEP */
    uint32_t queue_length; /* the same */
    uint32_t mode;         /* adm_mode_t, or ADM_OVERRIDE_KEEP */
} adm_override_t;

/**
 * Override a zone's limit, queue length or mode, for all children, immediately:
 * permits that become free are granted. Applies until a configuration load
 * changes the zone's configured numbers, or the segment ends. Waits briefly.
 *
 * @param before  what applied before: limit and queue length as numbers
 * @param after   what applies now, in the same form
 * @return APR_SUCCESS, or an error of adm_view_zone(): then nothing has changed
 */
apr_status_t adm_override_set(adm_child_t *child, adm_zone_t zone,
                              const adm_override_t *wanted, adm_usec_t now,
                              adm_override_t *before, adm_override_t *after);

#endif
