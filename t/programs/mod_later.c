/* mod_later.c - a handler that returns SUSPENDED and answers later, from a thread of
 * its own: as soon as the file that the query names exists.
 */
#include <pthread.h>
#include <unistd.h>

#include <httpd.h>
#include <apr_file_info.h>
#include <http_config.h>
#include <http_connection.h>
#include <http_protocol.h>
#include <http_request.h>

#define LONGEST_SEC 60
#define NAP_USEC 10000

static void *answer_later(void *data)
{
    request_rec *r = data;
    conn_rec *c = r->connection;
    apr_finfo_t info;
    int naps;

    /* Held until the request is suspended. */
    apr_thread_mutex_lock(r->invoke_mtx);
    apr_thread_mutex_unlock(r->invoke_mtx);
    for (naps = 0; naps < LONGEST_SEC * (1000000 / NAP_USEC); naps++) {
        if (apr_stat(&info, r->args, APR_FINFO_MIN, r->pool) == APR_SUCCESS) {
            break;
        }
        usleep(NAP_USEC);
    }
    ap_rputs("later\n", r);
    ap_finalize_request_protocol(r);
    ap_process_request_after_handler(r);
    ap_flush_conn(c); /* nobody else does, up to httpd 2.4 */
    return NULL;
}

static int suspend(request_rec *r)
{
    pthread_t thread;

    if (strcmp(r->handler, "later") != 0) {
        return DECLINED;
    }
    ap_set_content_type(r, "text/plain");
    r->connection->keepalive = AP_CONN_CLOSE;
    return pthread_create(&thread, NULL, answer_later, r) == 0 ? SUSPENDED
                                                               : HTTP_INTERNAL_SERVER_ERROR;
}

static void register_hooks(apr_pool_t *p)
{
    (void)p;
    ap_hook_handler(suspend, NULL, NULL, APR_HOOK_MIDDLE);
}

module AP_MODULE_DECLARE_DATA later_module = {
    STANDARD20_MODULE_STUFF, NULL, NULL, NULL, NULL, NULL, register_hooks
};
