/* mod_suspend.c - suspends each CGI request once, and lets the MPM event resume
 * it immediately.
 *
 * The handler returns SUSPENDED, and the MPM polls the connection until it can
 * be written to, which is true of an idle client. So this is what httpd itself
 * needs to suspend and resume a request: `bench/run spawners` compares it with
 * requests that mod_admission parks. With -D SUSPEND_HOLD, the MPM resumes the
 * request when its client sends another byte: `bench/run parking` measures the
 * memory of suspended requests. Needs CONN_STATE_ASYNC_WAITIO (httpd
 * 2.4.63); without it, the module does nothing.
 */
#include <httpd.h>

#include <apr_hooks.h>
#include <http_config.h>
#include <http_connection.h>
#include <http_core.h>
#include <http_protocol.h>
#include <http_request.h>

#include <ap_mpm.h>

#ifdef AP_MPMQ_CAN_WAITIO

extern module AP_MODULE_DECLARE_DATA suspend_module;

/* The request of a connection. */
typedef struct suspended_t {
    request_rec *r;
    const char *handler;
    enum { RUNS, LEAVES, WAITS, RESUMES } state;
} suspended_t;

static suspended_t *suspended_of(conn_rec *c)
{
    suspended_t *suspended = ap_get_module_config(c->conn_config,
                                                  &suspend_module);

    if (!suspended) {
        suspended = apr_pcalloc(c->pool, sizeof(*suspended));
        ap_set_module_config(c->conn_config, &suspend_module, suspended);
    }
    return suspended;
}

static int suspend(request_rec *r)
{
    suspended_t *suspended;

    if (strcmp(r->handler, "cgi-script") != 0 || r->main) {
        return DECLINED;
    }
    suspended = suspended_of(r->connection);
    if (suspended->state != RUNS) {
        return DECLINED;
    }
    *suspended = (suspended_t){ .r = r,
                                .handler = r->handler,
                                .state = LEAVES };
    return SUSPENDED;
}

/* As httpd does around and after a handler. */
static void resume(conn_rec *c, suspended_t *suspended)
{
    request_rec *r = suspended->r;
    const char *old_handler = r->handler;
    int rv;

    c->cs->state = CONN_STATE_HANDLER;
    ap_update_child_status(c->sbh, SERVER_BUSY_WRITE, r);
    apr_thread_mutex_lock(r->invoke_mtx);
    suspended->state = RESUMES;
    r->handler = suspended->handler;
    rv = ap_run_handler(r);
    r->handler = old_handler;
    suspended->state = RUNS;
    apr_thread_mutex_unlock(r->invoke_mtx);
    ap_die(rv, r);
    ap_process_request_after_handler(r);
}

static int process(conn_rec *c)
{
    apr_array_header_t *hooks = ap_hook_get_process_connection();
    ap_LINK_process_connection_t *hook = (ap_LINK_process_connection_t *)
                                             hooks->elts;
    suspended_t *suspended = suspended_of(c);
    int i, rv = DECLINED;

    if (suspended->state == WAITS) {
        resume(c, suspended);
        return OK;
    }
    for (i = 0; i < hooks->nelts && hook[i].pFunc != process; i++) {
    }
    for (i++; i < hooks->nelts && rv == DECLINED; i++) {
        rv = hook[i].pFunc(c);
    }
    if (suspended->state == LEAVES) {
        suspended->state = WAITS;
        c->cs->sense = ap_exists_config_define("SUSPEND_HOLD")
                           ? CONN_SENSE_WANT_READ
                           : CONN_SENSE_WANT_WRITE;
        c->cs->state = CONN_STATE_ASYNC_WAITIO;
        rv = OK;
    }
    return rv;
}

static void register_hooks(apr_pool_t *p)
{
    ap_hook_handler(suspend, NULL, NULL, APR_HOOK_REALLY_FIRST);
    ap_hook_process_connection(process, NULL, NULL, APR_HOOK_REALLY_FIRST);
}

#else

static void register_hooks(apr_pool_t *p)
{
}

#endif

AP_DECLARE_MODULE(suspend) = {
    STANDARD20_MODULE_STUFF, NULL, NULL, NULL, NULL, NULL, register_hooks, 0
};
