/* zones.h - the zones of a configuration. */
#ifndef MODULE_ZONES_H
#define MODULE_ZONES_H

#include "conf.h"

/** @return the zones of this configuration, in the order of the files; of
 *  admission_zone_t *. Complete after admission_zones_settle(). */
const apr_array_header_t *admission_zones(void);

/** Maximum number of zones with a limit. Requests of all further zones run
 *  without one. */
#define ADMISSION_ZONES_MAX 65536

/** Discard the zones of the previous configuration. */
void admission_zones_begin(apr_pool_t *pconf);

/** The hook check_config: turn sections into zones. @return OK, or an error
 *  that was logged. */
int admission_zones_settle(apr_pool_t *pconf, apr_pool_t *plog,
                           apr_pool_t *ptemp, server_rec *s);

/** Set the maximum of automatic limits that have none. @param most the maximum,
 *  unless the minimum is higher */
void admission_zones_bound(int most);

/** @return how many requests of the zone can run concurrently. For an automatic
 *  limit, its minimum, because the limit is not known in advance. */
int admission_zones_planned(const admission_zone_t *zone);

#endif
