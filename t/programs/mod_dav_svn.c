/* mod_dav_svn.c - what the tests need of Subversion's module: it serves POST requests
 * below /svn in its handler hook, and names no handler for them.
 */
#include <httpd.h>
#include <http_config.h>
#include <http_protocol.h>

static int serve(request_rec *r)
{
    if (r->method_number != M_POST || strncmp(r->uri, "/svn", 4) != 0) {
        return DECLINED;
    }
    ap_set_content_type(r, "text/plain");
    ap_rputs("posted\n", r);
    return OK;
}

static void register_hooks(apr_pool_t *p)
{
    (void)p;
    ap_hook_handler(serve, NULL, NULL, APR_HOOK_LAST);
}

AP_DECLARE_MODULE(dav_svn) = { STANDARD20_MODULE_STUFF, NULL, NULL, NULL, NULL, NULL,
                               register_hooks,          0 };
