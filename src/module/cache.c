/* cache.c - answer from mod_cache what was cached during the wait.
 *
 * mod_cache has its turn before the request waits. Of clients who want the same
 * page at once the first ones run the program; when the others get their permit
 * the answer is there. Only for the cache's quick handler, which is how mod_cache
 * works unless it is told not to: its other way adds filters to the request and
 * takes a lock each time it is asked. docs/dev/decisions has the reasons.
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

/* What the cache finds goes into the headers and filters of a copy. */
static request_rec *copy_to_ask_with(const request_rec *r)
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

    /* Others have not been to the quick handler with this URL. */
    return quick_handler && !r->main && !r->prev
           && quick_handler(copy_to_ask_with(r), 1) == OK;
}

int admission_cache_serve(request_rec *r)
{
    ap_internal_redirect(apr_uri_unparse(r->pool, &r->parsed_uri,
                                         APR_URI_UNP_OMITSITEPART),
                         r);
    return OK;
}
