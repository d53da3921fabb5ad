/* url.h - the URL that the client requested, before any redirects. */
#ifndef MODULE_URL_H
#define MODULE_URL_H

#include "conf.h"
#include "location.h"

/** admission_url_conf() of a request that httpd might have redirected. */
const admission_dir_conf_t *admission_url_conf_of_redirected(request_rec *r);

/** @return the configuration that applies to the request: its own sections and,
 *  merged over them, the <Location> sections of the URL that the client
 *  requested, if httpd has redirected the request before a handler served
 *  anything. Inline, because most requests are not redirected. */
static inline const admission_dir_conf_t *admission_url_conf(request_rec *r)
{
    return admission_location_is_used
                   && (r->prev || r->uri != r->parsed_uri.path)
               ? admission_url_conf_of_redirected(r)
               : ap_get_module_config(r->per_dir_config, &admission_module);
}

/**
 * admission_url_conf() of a target that was only looked up.
 *
 * @param r  the request that is about to be redirected
 * @param target  the request that was looked up
 */
const admission_dir_conf_t *admission_url_conf_of_target(request_rec *r,
                                                         request_rec *target);

/** Prepare the rejection of a request. @return the status, for its handler to
 *  return. */
int admission_url_reject(request_rec *r);

/**
 * @return a copy of the request, as expressions see it: URL, query, method and
 *         headers as the client sent them, with the environment of both the
 *         client's request and its target.
 *
 * @param asked  the request that @a r was, or will be, redirected from
 */
request_rec *admission_url_view(const request_rec *r, request_rec *asked);

/** @return whether AdmissionExempt is true for the request as the client sent
 *  it. An expression that fails is logged, and counts as false. */
bool admission_url_is_exempt(request_rec *r, request_rec *asked,
                             const admission_dir_conf_t *conf);

/** @return the request with the URL that the client requested. If a program
 *  redirected its client to a URL of this server, the request with that URL.
 *  @a r itself if it was not redirected. */
request_rec *admission_url_asked(request_rec *r);

#endif
