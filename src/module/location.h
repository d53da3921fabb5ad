/* location.h - the directives of a URL's <Location> sections alone.
 *
 * httpd merges the sections of a redirect's target. The <Location> sections of
 * the URL that the client requested are merged over them afterwards, so their
 * directives are stored separately: in admission_dir_conf_t.location, and per
 * request in a note.
 */
#ifndef MODULE_LOCATION_H
#define MODULE_LOCATION_H

#include "conf.h"

/** Reset the state of the previous configuration. Call before directives are
 *  read. */
void admission_location_begin(void);

/**
 * Mark the directive's section if it is in a <Location>. Each directive of
 * zones calls this first.
 *
 * @return an error message if the directive is not allowed in its context;
 *         NULL: it is allowed.
 */
const char *admission_location_mark(cmd_parms *cmd, admission_dir_conf_t *conf);

/** Whether any <Location> has a directive of zones. Only location.c writes it.
 *  A variable rather than a function, because it is read for every request. */
extern bool admission_location_is_used;

/** @return the directives of the <Location> sections of the URL that this
 *  request_rec had first, even if mod_rewrite or a fast redirect has replaced
 *  the URL since; NULL: none. */
const admission_dir_conf_t *admission_location_of(request_rec *r);

#endif
