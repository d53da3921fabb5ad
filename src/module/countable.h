/* countable.h - which requests count against the limit of their zone. */
#ifndef MODULE_COUNTABLE_H
#define MODULE_COUNTABLE_H

#include "conf.h"

/** @return whether a request with this handler counts. */
bool admission_counts(const admission_dir_conf_t *conf, request_rec *r);

/** @return whether AdmissionHandlers is set to "all". */
bool admission_countable_all(const admission_dir_conf_t *conf);

/** @return whether mod_rewrite, by a rule in a directory or .htaccess,
 *  redirects the request inside httpd. Its filename is then "redirect:" and the
 *  target's path. */
static inline bool admission_countable_is_rewritten(const request_rec *r)
{
    /* Without that prefix it is a file whose configured handler has this name. */
    return admission_conf_is_handler(r, "redirect-handler") && r->filename
           && strncmp(r->filename, "redirect:", 9) == 0;
}

/** @return whether the handler's name means a static file: only httpd's last
 *  handlers, which send files, serve it. */
bool admission_countable_file(const request_rec *r);

/** @return whether the handler only finds another URL and redirects to it. */
bool admission_countable_only_redirects(request_rec *r);

/** @return whether mod_include might start programs while it sends the
 *  response. Valid only in handlers, after the filters have been initialized.
 */
bool admission_countable_include(request_rec *r);

/** Intercept the INCLUDES filter, to mark each request whose output passes
 *  through it. Find the modules that might serve a request without a handler
 *  name. */
void admission_countable_start(apr_pool_t *ptemp);

/** Log a warning with the names of these modules, unless AdmissionHandlers is
 *  set for every zone. */
void admission_countable_warn(apr_pool_t *p, server_rec *s);

#endif
