/* mod_nameless.c - what the tests need of a module such as Phusion Passenger: it serves
 * in its handler hook what is below /app and no existing file, and names no handler.
 * "/app/x?PATH" is answered as soon as PATH exists; "take" has it serve an existing
 * file as well, "decline" has it log that it was asked, and serve nothing.
 */
#include <unistd.h>

#include <httpd.h>
#include <apr_file_info.h>
#include <http_config.h>
#include <http_log.h>
#include <http_protocol.h>

APLOG_USE_MODULE(nameless);

#define LONGEST_SEC 60
#define NAP_USEC 10000

static int wants(const request_rec *r)
{
    if (strncmp(r->uri, "/app", 4) != 0) {
        return 0;
    }
    return r->finfo.filetype != APR_REG || (r->path_info && *r->path_info)
           || (r->args && strcmp(r->args, "take") == 0);
}

static void wait_for(const char *gate, apr_pool_t *p)
{
    apr_finfo_t info;
    int naps;

    for (naps = 0; naps < LONGEST_SEC * (1000000 / NAP_USEC); naps++) {
        if (apr_stat(&info, gate, APR_FINFO_MIN, p) == APR_SUCCESS) {
            return;
        }
        usleep(NAP_USEC);
    }
}

static int serve(request_rec *r)
{
    if (!wants(r)) {
        return DECLINED;
    }
    if (r->args && strcmp(r->args, "decline") == 0) {
        ap_log_rerror(APLOG_MARK, APLOG_NOTICE, 0, r, "asked");
        return DECLINED;
    }
    if (r->args && *r->args == '/') {
        wait_for(r->args, r->pool);
    }
    ap_set_content_type(r, "text/plain");
    ap_rprintf(r, "served %s\n", r->method);
    return OK;
}

static void register_hooks(apr_pool_t *p)
{
    (void)p;
    /* Before mod_autoindex, which takes directories. */
    ap_hook_handler(serve, NULL, NULL, APR_HOOK_FIRST);
}

module AP_MODULE_DECLARE_DATA nameless_module = {
    STANDARD20_MODULE_STUFF, NULL, NULL, NULL, NULL, NULL, register_hooks, 0
};
