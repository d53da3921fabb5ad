/* mod_broken.c - a handler whose answer fails half-way: it says so to the filters, and
 * to httpd that it has done nothing.
 */
#include <httpd.h>
#include <http_config.h>
#include <http_protocol.h>

#define LINES 10000

static int break_off(request_rec *r)
{
    apr_bucket_brigade *bb;
    int i;

    if (strcmp(r->handler, "broken") != 0) {
        return DECLINED;
    }
    ap_set_content_type(r, "text/plain");
    for (i = 0; i < LINES; i++) {
        ap_rprintf(r, "%09d\n", i);
    }
    bb = apr_brigade_create(r->pool, r->connection->bucket_alloc);
    APR_BRIGADE_INSERT_TAIL(
        bb, ap_bucket_error_create(HTTP_BAD_GATEWAY, NULL, r->pool,
                                   r->connection->bucket_alloc));
    ap_pass_brigade(r->output_filters, bb);
    return DECLINED;
}

static void register_hooks(apr_pool_t *p)
{
    (void)p;
    ap_hook_handler(break_off, NULL, NULL, APR_HOOK_MIDDLE);
}

module AP_MODULE_DECLARE_DATA broken_module = {
    STANDARD20_MODULE_STUFF, NULL, NULL, NULL, NULL, NULL, register_hooks
};
