/* location.h - the directives of a URL's <Location> sections alone.
 *
 * httpd merges the sections of a redirect's target. The <Location> sections of the
 * URL that the client asked for have to be merged over them, so their directives are
 * kept apart: in admission_dir_conf_t.location, and for each request in a note.
 */
#ifndef MODULE_LOCATION_H
#define MODULE_LOCATION_H

#include "conf.h"

/** Forget the configuration before. To be called before directives are read. */
void admission_location_begin(void);

/**
 * Note that the section of a directive belongs to a <Location>, if it does. Each
 * directive of zones calls this first.
 *
 * @return why the directive is not allowed where it stands; NULL: it is allowed.
 */
const char *admission_location_mark(cmd_parms *cmd, admission_dir_conf_t *conf);

/** Whether any <Location> has a directive of zones. For all but this file to read; a
 *  variable, because every request asks for it. */
extern bool admission_location_is_used;

/** @return the directives of the <Location> sections of the URL with which this very
 *  request_rec began, also if mod_rewrite or a fast redirect has replaced that URL;
 *  NULL: there are none. */
const admission_dir_conf_t *admission_location_of(request_rec *r);

#endif
