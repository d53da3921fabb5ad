/* mod_before.c - leaves in httpd's parent what mod_admission 0.1 left there.
 *
 * That version kept its segment under this key, whose number is its layout, and
 * noted no version. What the key leads to is nobody's business any more.
 */
#include <httpd.h>

#include <http_config.h>

#define KEY_OF_0_1 "mod_admission.segment.16809828"

static int on_post_config(apr_pool_t *pconf, apr_pool_t *plog, apr_pool_t *ptemp, server_rec *s)
{
    (void)pconf;
    (void)plog;
    (void)ptemp;
    (void)s;
    if (!ap_retained_data_get(KEY_OF_0_1)) {
        ap_retained_data_create(KEY_OF_0_1, sizeof(void *));
    }
    return OK;
}

static void register_hooks(apr_pool_t *p)
{
    (void)p;
    ap_hook_post_config(on_post_config, NULL, NULL, APR_HOOK_REALLY_FIRST);
}

AP_DECLARE_MODULE(before) = { STANDARD20_MODULE_STUFF, NULL, NULL, NULL, NULL, NULL,
                              register_hooks,          0 };
