/* zones.h - the sections that set a limit, and the zones that they form. */
#ifndef MODULE_ZONES_H
#define MODULE_ZONES_H

#include "conf.h"

/** @return the first section with MaxConcurrent or AdmissionZone, in the order
 *  of the files; NULL: none. */
admission_section_t *admission_zones_sections(void);

/** @return the server's name, as used in the names of its zones. */
const char *admission_zones_server(apr_pool_t *p, const server_rec *s);

/** @return file:line of the directive. */
const char *admission_zones_place(const cmd_parms *cmd);

/** Record the section of a directive that defines its zone. @return the
 *  section's record, for the directive to fill in. */
admission_section_t *admission_zones_note_section(cmd_parms *cmd,
                                                  admission_dir_conf_t *conf);

/** Record the section of an AdmissionFair, AdmissionPriority or
 *  AdmissionCost. */
void admission_zones_note_flows(cmd_parms *cmd,
                                const admission_dir_conf_t *conf);

/** @return the first zone of this configuration, in the order of the files;
 *  NULL: none. Complete after admission_zones_settle(). */
admission_zone_t *admission_zones(void);

/** @return the number of zones. */
int admission_zones_count(void);

/** Maximum number of zones with a limit. Requests of all further zones run
 *  without one. */
#define ADMISSION_ZONES_MAX 65536

/** Discard the zones of the previous configuration. */
void admission_zones_begin(apr_pool_t *pconf);

/** @return whether this is the first of the two times that httpd reads the
 *  configuration at its start. Warnings wait for the second one. A configuration
 *  test reads it once. */
bool admission_zones_is_rehearsal(void);

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
