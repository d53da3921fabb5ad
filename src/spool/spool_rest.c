/* spool_rest.c - send the rest of a response without a worker. */
#include <httpd.h>
#include <http_protocol.h>

#include "spool_rest.h"
#include "park/park_ready.h"
#include "module/release.h"
#include "park/park_resume.h"

/* ---- a worker is there ------------------------------------------------------ */

/* Release the permit if the program has exited since. */
static void release_if_exited(spool_t *spool)
{
    adm_ticket_t *ticket = spool_ticket(spool);

    if (admission_release_at_end_of_output(ticket)) {
        adm_ticket_return_worker(ticket);
    }
}

static void finish(admission_ready_t *ready, spool_t *spool)
{
    request_rec *r = admission_visit_root(spool_request(spool));

    admission_ready_end(ready);
    spool_close(spool);
    admission_resume_end(r);
}

/* The client takes more, or has timed out. @return whether to wait again. If
 * not, the request is finished, and can be gone. */
static bool resume(admission_ready_t *ready)
{
    spool_t *spool = ready->data;
    conn_rec *c = ready->c;
    apr_status_t rv = ready->is_last_chance ? APR_TIMEUP : spool_push(spool);

    release_if_exited(spool);
    if (APR_STATUS_IS_EAGAIN(rv)) {
        admission_ready_note(ready);
        if (admission_ready_wait(ready, true)) {
            return true;
        }
    }
    if (rv != APR_SUCCESS && !APR_STATUS_IS_EAGAIN(rv)) {
        c->aborted = 1; /* or the client has read nothing for Timeout */
    }
    finish(ready, spool);
    return false;
}

/* ---- start ------------------------------------------------------------------ */

int spool_rest_send(request_rec *r, spool_t *spool)
{
    admission_ready_t *ready = admission_ready_begin(r, resume, spool);

    if (ready && admission_ready_wait(ready, true)) {
        /* A redirected request returns to the handler of the client's
         * request. */
        return r->prev ? OK : SUSPENDED;
    }
    if (ready) {
        admission_ready_end(ready);
    }
    spool_close(spool);
    return OK;
}
