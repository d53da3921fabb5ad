/* mod_php.c - what the tests need of PHP in the server: a module of its name that
 * runs executable pages, as with "php_value xbithack 1".
 */
#include <httpd.h>
#include <http_config.h>
#include <http_protocol.h>

static int run_page(request_rec *r)
{
    if (strcmp(r->handler, "text/html") != 0 || !(r->finfo.protection & APR_FPROT_UEXECUTE)) {
        return DECLINED;
    }
    ap_set_content_type(r, "text/plain");
    ap_rputs("run by PHP\n", r);
    return OK;
}

static void register_hooks(apr_pool_t *p)
{
    (void)p;
    ap_hook_handler(run_page, NULL, NULL, APR_HOOK_MIDDLE);
}

module AP_MODULE_DECLARE_DATA php_module = { STANDARD20_MODULE_STUFF, NULL, NULL, NULL, NULL, NULL,
                                             register_hooks };
