/* spool_output.c - buffer responses that clients read slowly. */
#include <httpd.h>
#include <http_config.h>
#include <http_core.h>
#include <http_log.h>
#include <http_protocol.h>
#include <util_filter.h>

#include "module/backend.h"
#include "park/park_mpm.h"
#include "park/park_ready.h"
#include "module/release.h"
#include "park/park_resume.h"
#include "spool.h"
#include "module/url.h"
#include "module/process.h"

APLOG_USE_MODULE(admission);

/* Interval at which program and client are polled while both pause. It grows
 * with the pause, between these bounds. */
#define POLL_MIN ((apr_interval_time_t)100)
#define POLL_MAX apr_time_from_msec(10)

typedef struct spool_t {
    request_rec *r;
    admission_visit_t *visit;
    admission_drain_t drain;
    apr_off_t room;           /* maximum of buffered bytes */
    apr_bucket_brigade *data; /* read, not written yet; NULL at first */
    apr_size_t length;        /* bytes in `data` */
    bool has_begun;           /* something was written */
    apr_bucket *end;          /* EOS, while it is held back; NULL: none */
    admission_drain_t *outer; /* response of an outer request */
    bool has_returned;        /* the handlers have returned */
    bool may_hold_back;       /* handlers run, and it can be suspended */
} spool_t;

static ap_filter_rec_t *spool_filter;

/* ---- the end of the program's output -------------------------------------- */

/* Release the permit, or leave it to the program. The worker stays counted while
 * its thread can block on the client: on event until the handlers return,
 * because the MPM sends the rest; otherwise until the rest is sent. A stream of
 * HTTP/2 does not wait for its client: its program is looked at again when the
 * handler has returned. */
static void release_permit(spool_t *spool)
{
    adm_ticket_t *ticket = &spool->visit->ticket;
    conn_rec *c = spool->r->connection;
    bool is_async = admission_mpm_is_async();
    bool keeps_worker = !is_async || !spool->has_returned;

    if (c->master) {
        admission_release_if_ended(ticket, keeps_worker);
    }
    else if (admission_release_to_program(ticket, keeps_worker) && !is_async) {
        admission_release_behind_response(c, ticket);
    }
}

static apr_status_t write_data(spool_t *spool)
{
    spool->has_begun = true;
    spool->length = 0;
    return APR_BRIGADE_EMPTY(spool->data)
               ? APR_SUCCESS
               : admission_drain_write(&spool->drain, spool->data);
}

/* A short response is passed on together with its EOS, so that its length is
 * known. */
static apr_status_t offer_last_data(spool_t *spool)
{
    if (spool->drain.f->c->master) {
        release_permit(spool);
        return write_data(spool);
    }
    if (admission_drain_is_idle(&spool->drain)) {
        spool->length = 0;
        APR_BRIGADE_CONCAT(spool->drain.bb, spool->data);
        return APR_SUCCESS;
    }
    return admission_drain_offer(&spool->drain, spool->data);
}

/* Handle EOS. The permit is released before the thread blocks on the client. If
 * nothing is left to send, it is released together with the worker, in a
 * moment: releasing it earlier would count one busy worker too many. */
static apr_status_t end_output(spool_t *spool, apr_bucket *eos)
{
    apr_status_t rv;

    APR_BUCKET_REMOVE(eos);
    rv = offer_last_data(spool);
    if (APR_STATUS_IS_EAGAIN(rv)) {
        release_permit(spool);
        rv = write_data(spool);
    }
    if (spool->may_hold_back && rv == APR_SUCCESS
        && !admission_drain_is_empty(&spool->drain)) {
        spool->end = eos;
        return APR_SUCCESS;
    }
    ap_remove_output_filter(spool->drain.f);
    if (rv != APR_SUCCESS) {
        apr_bucket_destroy(eos);
        return rv;
    }
    if (!admission_drain_is_empty(&spool->drain)) {
        release_permit(spool);
    }
    return admission_drain_end(&spool->drain, eos);
}

/* ---- pauses ---------------------------------------------------------------- */

/* The handler wants its client to have everything now. For mod_proxy_http,
 * spool_backend.c finishes the flush while the handler waits for its
 * backend. Other handlers call again only with more data, so everything is
 * flushed now. */
static apr_status_t flush(spool_t *spool)
{
    admission_drain_t *drain = &spool->drain;
    apr_status_t rv = write_data(spool);

    if (rv != APR_SUCCESS) {
        return rv;
    }
    return !drain->f->c->master && admission_backend_speaks_http(spool->r)
               ? admission_drain_flush_soon(drain)
               : admission_drain_flush(drain);
}

/* The program pauses. @return APR_SUCCESS: block until it writes more;
 * APR_EAGAIN: the client still has data to read, so poll again. */
static apr_status_t pause_output(spool_t *spool, adm_usec_t paused_since)
{
    admission_drain_t *drain = &spool->drain;
    apr_interval_time_t pause = adm_now() - paused_since;
    apr_status_t rv = write_data(spool);

    if (rv == APR_SUCCESS && !drain->f->c->master) {
        rv = admission_drain_push(drain);
        if (!admission_drain_is_idle(drain)
            && (rv == APR_SUCCESS || APR_STATUS_IS_EAGAIN(rv))
            && pause < spool->r->server->timeout) {
            admission_drain_wait(drain, pause < POLL_MIN   ? POLL_MIN
                                        : pause > POLL_MAX ? POLL_MAX
                                                           : pause);
            return APR_EAGAIN;
        }
    }
    return rv == APR_SUCCESS || APR_STATUS_IS_EAGAIN(rv)
               ? admission_drain_flush(drain)
               : rv;
}

/* Flush the buffered data, then pass on a metadata bucket, such as an error. It
 * is not buffered, because after an error the handler might send nothing else,
 * and return any status. */
static apr_status_t pass_in_place(spool_t *spool, apr_bucket *b)
{
    apr_status_t rv = write_data(spool);

    if (rv == APR_SUCCESS && !admission_drain_is_empty(&spool->drain)) {
        rv = admission_drain_flush(&spool->drain);
    }
    if (rv != APR_SUCCESS) {
        apr_bucket_destroy(b);
        return rv;
    }
    return admission_drain_pass(&spool->drain, b);
}

/* ---- data ------------------------------------------------------------------ */

/* Send what was read before, and an error that marks the response as
 * incomplete. */
static apr_status_t abort_response(spool_t *spool, apr_status_t fault)
{
    request_rec *r = spool->r;
    apr_bucket *error = ap_bucket_error_create(HTTP_BAD_GATEWAY, NULL, r->pool,
                                               r->connection->bucket_alloc);

    /* httpd's core logs only errors of data that it reads itself. */
    ap_log_rerror(
        APLOG_MARK, APLOG_ERR, fault, r, ADMLOGNO(0213)
        "AdmissionSpool: cannot read the rest of the response from its "
        "handler: the client gets an error or an incomplete response; check "
        "the log of the program or backend");
    pass_in_place(spool, error);
    /* After the header, which must not announce that the connection's end is
     * the end of the response. */
    r->connection->keepalive = AP_CONN_CLOSE;
    return fault;
}

/* The program's output cannot be read any further. @return APR_EOF if it is
 * complete; the error otherwise. */
static apr_status_t end_or_abort(spool_t *spool, apr_status_t fault)
{
    /* The system resets the connection to a program that exits before it has read
     * its body. Its output is then complete. */
    if (APR_STATUS_IS_ECONNRESET(fault)
        && adm_program_was_announced(&spool->visit->ticket)) {
        /* Parts of the client's body might still arrive. */
        spool->r->connection->keepalive = AP_CONN_CLOSE;
        return APR_EOF;
    }
    return abort_response(spool, fault);
}

/* Read a bucket whose data might not have arrived yet. @return APR_EOF if it
 * has none. */
static apr_status_t read_bucket(spool_t *spool, apr_bucket *b,
                                apr_size_t *length)
{
    adm_usec_t paused_since = 0;
    const char *data;
    apr_status_t rv = apr_bucket_read(b, &data, length, APR_NONBLOCK_READ);

    while (APR_STATUS_IS_EAGAIN(rv)) {
        if (!paused_since) {
            paused_since = adm_now();
        }
        rv = pause_output(spool, paused_since);
        if (rv != APR_SUCCESS && !APR_STATUS_IS_EAGAIN(rv)) {
            return rv;
        }
        rv = apr_bucket_read(b, &data, length,
                             rv == APR_SUCCESS ? APR_BLOCK_READ
                                               : APR_NONBLOCK_READ);
    }
    return rv == APR_SUCCESS ? rv : end_or_abort(spool, rv);
}

/* Collect a data bucket, and write the collected data when they exceed
 * ADMISSION_PIECE. */
static apr_status_t add_data(spool_t *spool, apr_bucket *b)
{
    apr_size_t length;
    apr_status_t rv = read_bucket(spool, b, &length);

    if (rv == APR_EOF) {
        apr_bucket_delete(b);
        return APR_SUCCESS;
    }
    if (rv != APR_SUCCESS) {
        return rv;
    }
    if (length > ADMISSION_PIECE) {
        rv = apr_bucket_split(b, ADMISSION_PIECE);
        length = ADMISSION_PIECE;
        if (rv != APR_SUCCESS) {
            return rv;
        }
    }
    if (spool->length + length > ADMISSION_PIECE) {
        rv = write_data(spool);
    }
    spool->length += length;
    APR_BUCKET_REMOVE(b);
    APR_BRIGADE_INSERT_TAIL(spool->data, b);
    return rv;
}

/* ---- a complete response --------------------------------------------------- */

/* @return whether a bucket is a FLUSH right before EOS, so no data follow it. */
static bool is_flush_at_end(const apr_bucket_brigade *bb, const apr_bucket *b)
{
    const apr_bucket *next = APR_BUCKET_NEXT(b);

    return APR_BUCKET_IS_FLUSH(b) && next != APR_BRIGADE_SENTINEL(bb)
           && APR_BUCKET_IS_EOS(next);
}

/* @param memory  filled with the number of bytes that are not in files
 * @return the length of the complete response; -1 if it is not complete or
 *         unknown. */
static apr_off_t length_of_all(const apr_bucket_brigade *bb, apr_off_t *memory)
{
    apr_off_t length = 0;
    const apr_bucket *b;

    *memory = 0;
    for (b = APR_BRIGADE_FIRST(bb);
         b != APR_BRIGADE_SENTINEL(bb) && !APR_BUCKET_IS_EOS(b);
         b = APR_BUCKET_NEXT(b)) {
        if (b->length == (apr_size_t)-1
            || (APR_BUCKET_IS_FLUSH(b) && !is_flush_at_end(bb, b))) {
            return -1;
        }
        length += (apr_off_t)b->length;
        if (!APR_BUCKET_IS_FILE(b)) {
            *memory += (apr_off_t)b->length;
        }
    }
    return b != APR_BRIGADE_SENTINEL(bb) ? length : -1;
}

/* @return whether to pass on the response without buffering: a complete one
 *         that is short, in files, or requested in parts. The filters below
 *         send these best. A longer response is passed on in pieces, with the
 *         Content-Length that those filters would have found.
 * @param length  filled with its length; -1: unknown */
static bool is_best_passed_on(spool_t *spool, const apr_bucket_brigade *bb,
                              apr_off_t *length)
{
    request_rec *r = spool->r;
    apr_off_t memory;

    if (spool->data && (spool->has_begun || !APR_BRIGADE_EMPTY(spool->data))) {
        return false;
    }
    *length = length_of_all(bb, &memory);
    if (*length >= 0
        && (memory <= (apr_off_t)ADMISSION_PIECE
            || apr_table_get(r->headers_in, "Range"))) {
        return true;
    }
    if (*length >= 0) {
        ap_set_content_length(r, *length);
    }
    return false;
}

/* ---- the filter ------------------------------------------------------------ */

/* Allocate the buffer. Most responses need none: they are passed on unchanged. */
static void start_writing(spool_t *spool)
{
    request_rec *r = spool->r;

    if (!spool->data) {
        spool->data = apr_brigade_create(r->pool, r->connection->bucket_alloc);
        admission_drain_init(&spool->drain, spool->room);
    }
}

/* The output filter. */
static apr_status_t spool_output(ap_filter_t *f, apr_bucket_brigade *bb)
{
    spool_t *spool = f->ctx;
    apr_status_t rv = APR_SUCCESS;
    apr_off_t length;

    if (is_best_passed_on(spool, bb, &length)) {
        if (!admission_drain_takes_now(&spool->drain, length)) {
            release_permit(spool);
        }
        ap_remove_output_filter(f);
        return ap_pass_brigade(f->next, bb);
    }
    start_writing(spool);
    while (!APR_BRIGADE_EMPTY(bb) && rv == APR_SUCCESS) {
        apr_bucket *b = APR_BRIGADE_FIRST(bb);

        if (APR_BUCKET_IS_EOS(b)) {
            return end_output(spool, b);
        }
        if (APR_BUCKET_IS_FLUSH(b)) {
            apr_bucket_delete(b);
            rv = flush(spool);
        }
        else if (APR_BUCKET_IS_METADATA(b)) {
            APR_BUCKET_REMOVE(b);
            rv = pass_in_place(spool, b);
        }
        else {
            rv = add_data(spool, b);
        }
    }
    return rv == APR_SUCCESS ? write_data(spool) : rv;
}

void spool_output_register(void)
{
    /* Below all filters that change the response, such as compression; above
     * those that encode HTTP. */
    spool_filter = ap_register_output_filter("ADMISSION_SPOOL", spool_output,
                                             NULL, AP_FTYPE_PROTOCOL - 1);
}

/* ---- the request ----------------------------------------------------------- */

/* @return whether the client's request can be suspended. A redirected request
 * runs below its handler. */
static bool may_be_suspended(request_rec *r)
{
    request_rec *root = admission_visit_root(r);
    const admission_request_t *known = admission_visit_request(root);

    return known && known->may_suspend && admission_resume_is_possible(root);
}

void *spool_begin(request_rec *r, admission_visit_t *visit)
{
    const admission_dir_conf_t *conf = admission_url_conf(r);
    apr_off_t room = spool_conf_response(&conf->spool);
    spool_t *spool;

    if (room == 0 || r->main || r->header_only
        || admission_conf_is_dry_run(conf)) {
        return NULL;
    }
    spool = apr_pcalloc(r->pool, sizeof(*spool));
    spool->r = r;
    spool->visit = visit;
    spool->room = room;
    spool->drain.f = ap_add_output_filter_handle(spool_filter, spool, r,
                                                 r->connection);
    spool->may_hold_back = may_be_suspended(r);
    spool->outer = spool_backend_begin(&spool->drain);
    return spool;
}

/* @return whether something might be left to send when EOS has come. */
static bool has_rest(const spool_t *spool)
{
    if (!spool->data) {
        /* A filter above might have held back the whole response. httpd reads
         * the rest of the body before it sends EOS, which might take long. */
        return !ap_request_has_body(spool->r);
    }
    return !admission_mpm_is_async()
           || !admission_drain_is_empty(&spool->drain);
}

/* Many handlers leave it to httpd to send EOS. Send it now, while the rest can
 * be held back and the worker is counted. */
static void send_end(spool_t *spool, int rv)
{
    request_rec *r = spool->r;

    if (rv != OK || r->eos_sent || r->connection->aborted || !has_rest(spool)) {
        return;
    }
    if (ap_request_has_body(r)) {
        /* httpd first reads what the handler has not read of the body. */
        release_permit(spool);
    }
    ap_finalize_request_protocol(r);
}

/* Send the rest and the EOS bucket. Might block. */
static void send_rest(spool_t *spool)
{
    ap_filter_t *f = spool->drain.f;

    ap_remove_output_filter(f);
    admission_drain_end(&spool->drain, spool->end);
    spool->end = NULL;
}

bool spool_end(void *begun, int rv)
{
    spool_t *spool = begun;

    spool_backend_end(spool->outer);
    send_end(spool, rv);
    spool->may_hold_back = false;
    spool->has_returned = true;
    if (spool->end && rv != OK && rv != DONE) {
        send_rest(spool);
    }
    /* A request that goes on with its permit, as for an ErrorDocument, keeps the
     * worker. */
    if (admission_mpm_is_async()
        && (spool->end || !atomic_load(&spool->visit->ticket.held))) {
        adm_ticket_return_worker(&spool->visit->ticket);
    }
    return spool->end != NULL;
}

/* ---- the rest, without a worker (event MPM) -------------------------------- */

/* Send the rest with this thread, because the MPM cannot wait for the client. If
 * the permit is still held, the worker is returned with it: the thread might
 * wait for the program when it destroys the request. */
static void send_rest_with_worker(spool_t *spool)
{
    adm_ticket_t *ticket = &spool->visit->ticket;

    adm_ticket_take_worker(ticket);
    send_rest(spool);
    if (!atomic_load(&ticket->held)) {
        adm_ticket_return_worker(ticket);
    }
}

/* The client takes more, or has timed out. @return whether to wait again. If
 * not, the request is finished, and can be gone. */
static bool resume(admission_ready_t *ready)
{
    spool_t *spool = ready->data;
    conn_rec *c = ready->c;
    request_rec *r;
    apr_status_t rv = ready->is_last_chance
                          ? APR_TIMEUP
                          : admission_drain_push(&spool->drain);

    /* A program that cannot be watched might have exited in the meantime. */
    admission_release_if_ended(&spool->visit->ticket, false);
    if (APR_STATUS_IS_EAGAIN(rv)) {
        admission_ready_note(ready);
        if (admission_ready_wait(ready, true)) {
            return true;
        }
    }
    if (rv != APR_SUCCESS && !APR_STATUS_IS_EAGAIN(rv)) {
        c->aborted = 1; /* or the client has read nothing for Timeout */
    }
    r = admission_visit_root(spool->r);
    admission_ready_end(ready);
    send_rest_with_worker(spool);
    admission_resume_end(r);
    return false;
}

int spool_rest(request_rec *r, void *spool)
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
    send_rest_with_worker(spool);
    return OK;
}
