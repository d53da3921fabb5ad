/* cache.c - serve from mod_cache a response that was cached during the wait.
 *
 * mod_cache runs before the request waits. If many clients request the same
 * page concurrently, the first ones run the program; when the others get their
 * permits, the response is cached.
 *
 * Only for the quick handler, mod_cache's default. Its other mode adds filters
 * to the request and takes a lock with each query. docs/dev/decisions has the
 * reasons.
 */
#include <httpd.h>
#include <apr_hooks.h>
#include <apr_strings.h>
#include <http_config.h>
#include <http_request.h>

#include "cache.h"

typedef int (*quick_handler_t)(request_rec *r, int lookup);

static quick_handler_t quick_handler_of_cache(void)
{
    apr_array_header_t *hooks = ap_hook_get_quick_handler();
    ap_LINK_quick_handler_t *hook = hooks
                                        ? (ap_LINK_quick_handler_t *)hooks->elts
                                        : NULL;
    int i;

    for (i = 0; hook && i < hooks->nelts; i++) {
        if (strcmp(hook[i].szName, "mod_cache.c") == 0) {
            return hook[i].pFunc;
        }
    }
    return NULL;
}

/* A query changes headers and filters, so it gets a copy of the request. */
static request_rec *copy_request(const request_rec *r)
{
    request_rec *copy = apr_pmemdup(r->pool, r, sizeof(*r));

    copy->headers_in = apr_table_copy(r->pool, r->headers_in);
    copy->headers_out = apr_table_copy(r->pool, r->headers_out);
    copy->err_headers_out = apr_table_copy(r->pool, r->err_headers_out);
    copy->notes = apr_table_copy(r->pool, r->notes);
    copy->subprocess_env = apr_table_copy(r->pool, r->subprocess_env);
    copy->output_filters = r->proto_output_filters;
    return copy;
}

bool admission_cache_has(request_rec *r)
{
    quick_handler_t quick_handler = quick_handler_of_cache();

    /* Subrequests and redirects did not go through the quick handler. */
    return quick_handler && !r->main && !r->prev
           && quick_handler(copy_request(r), 1) == OK;
}

int admission_cache_serve(request_rec *r)
{
    ap_internal_redirect(apr_uri_unparse(r->pool, &r->parsed_uri,
                                         APR_URI_UNP_OMITSITEPART),
                         r);
    return OK;
}
