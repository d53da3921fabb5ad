/* park_resume.c - what httpd does around a handler, for a handler that returned
 * SUSPENDED.
 */
#include <httpd.h>
#include <http_config.h>
#include <http_log.h>
#include <http_protocol.h>
#include <http_request.h>
#include <scoreboard.h>

#include "module/conf.h"
#include "park_lot.h"
#include "park_mpm.h"
#include "park_ready.h"
#include "park_resume.h"

APLOG_USE_MODULE(admission);

/* As ap_invoke_handler() does after a handler; the filters are in place
 * already. */
static int checked_result(request_rec *r, int rv)
{
    if (rv == DECLINED) {
        return HTTP_INTERNAL_SERVER_ERROR;
    }
    if (rv != OK && rv != DONE && rv != SUSPENDED && rv != AP_FILTER_ERROR
        && !ap_is_HTTP_VALID_RESPONSE(rv)) {
        ap_log_rerror(
            APLOG_MARK, APLOG_ERR, 0, r, ADMLOGNO(0301)
            "handler \"%s\" returned %d, which is no HTTP status: the client "
            "gets a 500; report this to the authors of its module",
            r->handler, rv);
        return HTTP_INTERNAL_SERVER_ERROR;
    }
    return rv;
}

bool admission_resume_is_leaving(const conn_rec *c)
{
    return admission_ready_is_leaving(c)
           || admission_lot_find(c, ADMISSION_LEAVING) != NULL;
}

/* Run the handler as httpd does, with r->invoke_mtx locked. @param is_leaving
 * filled with whether the request waits again */
static int run_handler(request_rec *r, const char *handler,
                       int (*run)(request_rec *r, void *data), void *data,
                       bool *is_leaving)
{
    const char *old_handler = r->handler;
    int rv;

    apr_thread_mutex_lock(r->invoke_mtx);
    r->handler = handler;
    rv = checked_result(r, run(r, data));
    r->handler = old_handler;
    *is_leaving = rv == SUSPENDED && admission_resume_is_leaving(r->connection);
    if (rv == SUSPENDED && !*is_leaving) {
        /* Before the unlock: afterwards the request and its connection can
         * end. */
        admission_mpm_suspend(r->connection);
    }
    apr_thread_mutex_unlock(r->invoke_mtx);
    return rv;
}

static void begin(request_rec *r)
{
    conn_rec *c = r->connection;

    admission_mpm_start_handler(c);
    ap_update_child_status(c->sbh, SERVER_BUSY_WRITE, r);
    if (ap_extended_status) {
        ap_time_process_request(c->sbh, START_PREQUEST);
    }
}

/* As ap_process_async_request() does around and after a handler. */
bool admission_resume_handler(request_rec *r, const char *handler,
                              int (*run)(request_rec *r, void *data),
                              void *data)
{
    bool is_leaving;
    int rv, status;

    begin(r);
    rv = run_handler(r, handler, run, data, &is_leaving);
    if (rv == SUSPENDED) {
        return is_leaving;
    }
    status = r->status;
    if (rv != OK && rv != DONE) {
        r->status = HTTP_OK; /* ap_die() reports the first error */
    }
    ap_die(rv, r);
    if (rv == AP_FILTER_ERROR && r->status == HTTP_OK) {
        r->status = status; /* the client has this status already */
    }
    ap_process_request_after_handler(r);
    return false;
}

void admission_resume_end(request_rec *r)
{
    begin(r);
    ap_die(OK, r);
    ap_process_request_after_handler(r);
}
