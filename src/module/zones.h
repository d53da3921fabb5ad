/* zones.h - the zones of a configuration. */
#ifndef MODULE_ZONES_H
#define MODULE_ZONES_H

#include "conf.h"

/** The zones of this configuration, in the order of the files; of
 *  admission_zone_t *. Complete after admission_zones_settle(). */
const apr_array_header_t *admission_zones(void);

/** So many zones can have a limit; the requests of all others run without. */
#define ADMISSION_ZONES_MAX 65536

/** Forget the zones of the configuration before. */
void admission_zones_begin(apr_pool_t *pconf);

/** Which zones the sections make: the hook check_config. @return OK, or an error
 *  that was logged. */
int admission_zones_settle(apr_pool_t *pconf, apr_pool_t *plog,
                           apr_pool_t *ptemp, server_rec *s);

/** Limits that find themselves, and of which no maximum is said, go up to @a most. */
void admission_zones_bound(int most);

/** @return how many of the zone run at once, as far as that can be said before: the
 *  minimum of a limit that finds itself. */
int admission_zones_planned(const admission_zone_t *zone);

#endif
