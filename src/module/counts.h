/* counts.h - which requests count. */
#ifndef MODULE_COUNTS_H
#define MODULE_COUNTS_H

#include "conf.h"

/** @return whether a request with this handler counts. */
bool admission_counts(const admission_dir_conf_t *conf, request_rec *r);

/** @return whether the section says that every handler counts. */
bool admission_counts_all(const admission_dir_conf_t *conf);

/** @return whether a rule of mod_rewrite, of a directory or .htaccess, redirects the
 *  request inside httpd: to what follows "redirect:" in its filename. */
static inline bool admission_counts_redirect(const request_rec *r)
{
    /* Else it is a file whose handler somebody has called so. */
    return admission_conf_is_handler(r, "redirect-handler") && r->filename
           && strncmp(r->filename, "redirect:", 9) == 0;
}

/** @return whether only the last handlers of all, which serve files, have a handler or
 *  type of this name. */
bool admission_counts_file(const request_rec *r);

/** @return whether the handler only finds out which request is meant, and runs
 *  that. */
bool admission_counts_detour(request_rec *r);

/** @return whether AdmissionExempt is true of the request. */
bool admission_counts_exempt(request_rec *r, const admission_dir_conf_t *conf,
                             const admission_zone_t *zone);

#endif
