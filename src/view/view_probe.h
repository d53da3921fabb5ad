/* view_probe.h - whether new requests are served in time, for load
 * balancers. */
#ifndef VIEW_PROBE_H
#define VIEW_PROBE_H

#include "module/conf.h"

/** Respond with 200; or with 503 with the reason and the name of the first zone
 *  that rejects new requests or keeps them waiting beyond its target.
 *
 *  @param only  the requested zone; NULL: all */
int admission_probe_write(request_rec *r, const admission_zone_t *only);

#endif
