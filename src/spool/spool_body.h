/* spool_body.h - bodies of requests that their clients send slowly.
 *
 * A body is read before its request asks for a permit, and kept; the handler reads
 * it from there. On the event MPM no worker waits for it.
 */
#ifndef MOD_ADMISSION_UPLOAD_H
#define MOD_ADMISSION_UPLOAD_H

#include "request/mod_admission_visit.h"

void admission_upload_register_filter(void);

/** The hook insert_filter: a redirected request has what was read before. */
void admission_upload_insert_filter(request_rec *r);

/** @return whether the request has a body. */
static inline bool admission_upload_has_body(const request_rec *r)
{
    const char *length = apr_table_get(r->headers_in, "Content-Length");

    return apr_table_get(r->headers_in, "Transfer-Encoding") != NULL
           || (length && strcmp(length, "0") != 0);
}

/** @return whether a request with this configuration may have a body that is read
 *  before it asks for a permit. Most have none. */
static inline bool
admission_upload_is_possible(const request_rec *r,
                             const admission_dir_conf_t *conf)
{
    return admission_conf_spool_request(conf) > 0
           && admission_upload_has_body(r);
}

/**
 * Read the body of a request that is about to ask the zone, as far as
 * AdmissionSpool allows. Only where admission_upload_is_possible(). Nothing is read if
 * the request would be rejected now.
 *
 * @param again  the handler hook, which is called once more when the body has come
 * @return OK: go on; SUSPENDED: @a again is called later; or the status of an error.
 */
int admission_upload_read(request_rec *r, const admission_dir_conf_t *conf,
                          int (*again)(request_rec *r));

#endif
