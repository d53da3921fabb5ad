/* view_explain.h - ?explain=URL: what applies to a URL, and why. */
#ifndef VIEW_EXPLAIN_H
#define VIEW_EXPLAIN_H

#include <stdbool.h>

#include <httpd.h>

/** Parameters of the query: decoded, not checked. */
typedef struct admission_explain_query_t {
    const char *url;    /* a path, or with scheme and host; NULL: no ?explain */
    const char *method; /* NULL: GET */
    const char *host;   /* NULL: the URL's, or else the server of the request */
    const char *client; /* an address; NULL: the request's */
} admission_explain_query_t;

/**
 * Look a URL up as httpd does for a request, up to its handler, which is not
 * run, and write what applies to it, as text or as JSON. No count changes.
 *
 * @return what a handler returns.
 */
int admission_explain_write(request_rec *r,
                            const admission_explain_query_t *query,
                            bool as_json);

#endif
