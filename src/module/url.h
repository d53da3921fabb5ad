/* url.h - the URL that the client asked for, behind redirects. */
#ifndef MODULE_URL_H
#define MODULE_URL_H

#include "conf.h"
#include "location.h"

/** @return admission_url_conf() of a request that httpd may have redirected inside. */
const admission_dir_conf_t *admission_url_redirected_conf(request_rec *r);

/** @return what applies to the request: its own sections, and over them the
 *  <Location> sections of the URL that was asked for, if httpd has redirected the
 *  request to another URL before a handler served anything. Inline: for the others it
 *  costs a load or two. */
static inline const admission_dir_conf_t *admission_url_conf(request_rec *r)
{
    return admission_location_is_used
                   && (r->prev || r->uri != r->parsed_uri.path)
               ? admission_url_redirected_conf(r)
               : ap_get_module_config(r->per_dir_config, &admission_module);
}

/**
 * The same of a target that has only been looked up.
 *
 * @param r       the request that is about to be redirected
 * @param target  the request that was looked up
 */
const admission_dir_conf_t *admission_url_conf_of_target(request_rec *r,
                                                         request_rec *target);

/** @return the status with which a request is rejected, for its handler to return. */
int admission_url_reject(request_rec *r);

/** What admission_url_show() has replaced. */
typedef struct admission_url_view_t {
    request_rec *r;
    char *uri;
    char *args;
    const char *method;
    int method_number;
    apr_table_t *headers_in;
    apr_table_t *subprocess_env;
    char *filename;
    const char *handler;
} admission_url_view_t;

/**
 * Let expressions see the request as the client sent it: URL, query, method,
 * headers, and the environment of both the client's request and its target.
 *
 * @param view   kept by the caller until admission_url_restore()
 * @param asked  the request that @a r has been, or will be, redirected from
 */
void admission_url_show(admission_url_view_t *view, request_rec *r,
                        request_rec *asked);

/** Undo admission_url_show(). */
void admission_url_restore(const admission_url_view_t *view);

/** @return whether AdmissionExempt is true of the request, as the client sent it. */
bool admission_url_is_exempt(request_rec *r, request_rec *asked,
                             const admission_dir_conf_t *conf);

/** @return the request whose URL was asked for, by the client or, where a program
 *  answered with another URL, by that program; @a r if there was no redirect. */
request_rec *admission_url_asked(request_rec *r);

#endif
