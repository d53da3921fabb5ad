/* release.c - hold a permit until the request's program has ended.
 *
 * When a handler returns, its CGI program can still be running: it stalls, has
 * closed its output, or its output is no longer read. httpd ends the program
 * while it destroys the request's pool, which happens when the end-of-request
 * bucket (EOR) is destroyed. A bucket of this module follows the EOR and is
 * destroyed directly after it. That releases the permit.
 *
 * A request whose client reads slowly, or whose response goes on with another
 * URL, can last long after its program. The permit is then left to the program,
 * and the agent releases it when the program has ended. On prefork and worker,
 * the bucket then returns the worker, which has waited for the client.
 */
#include <httpd.h>
#include <http_core.h>
#include <http_log.h>
#include <http_protocol.h>
#include <http_request.h>
#include <mod_core.h>
#include <util_filter.h>

#include "park/park_mpm.h"
#include "release.h"

APLOG_USE_MODULE(admission);

/* ---- the bucket behind the end of the request ---------------------------- */

void admission_release_after_request(adm_ticket_t *ticket)
{
    if (atomic_load(&ticket->held) && adm_child_is_self(ticket->child)
        && adm_program_outlives_request(ticket)) {
        adm_ticket_abandon(ticket, false, adm_now());
    }
    else {
        adm_ticket_release(ticket, adm_now());
    }
    adm_ticket_return_worker(ticket);
}

static void release_bucket_destroy(void *ticket)
{
    admission_release_after_request(ticket);
}

static apr_status_t release_bucket_read(apr_bucket *b, const char **text,
                                        apr_size_t *length,
                                        apr_read_type_e block)
{
    *text = NULL;
    *length = 0;
    return APR_SUCCESS;
}

static const apr_bucket_type_t release_bucket_type = {
    "ADMISSION_RELEASE",      5,
    APR_BUCKET_METADATA,      release_bucket_destroy,
    release_bucket_read,      apr_bucket_setaside_noop,
    apr_bucket_split_notimpl, apr_bucket_copy_notimpl
};

static apr_bucket *make_release_bucket(apr_bucket_alloc_t *alloc,
                                       adm_ticket_t *ticket)
{
    apr_bucket *b = apr_bucket_alloc(sizeof(*b), alloc);

    APR_BUCKET_INIT(b);
    b->free = apr_bucket_free;
    b->list = alloc;
    b->type = &release_bucket_type;
    b->length = 0;
    b->start = 0;
    b->data = ticket;
    return b;
}

static bool has_end_of_request(apr_bucket_brigade *bb)
{
    apr_bucket *b;

    for (b = APR_BRIGADE_FIRST(bb); b != APR_BRIGADE_SENTINEL(bb);
         b = APR_BUCKET_NEXT(b)) {
        if (AP_BUCKET_IS_EOR(b)) {
            return true;
        }
    }
    return false;
}

static ap_filter_rec_t *release_filter;

/* Append the release bucket after the EOR, in a separate brigade: some filters
 * expect the EOR at the end of a brigade. */
static apr_status_t append_release_bucket(ap_filter_t *f,
                                          apr_bucket_brigade *bb)
{
    conn_rec *c = f->c;
    ap_filter_t *next = f->next;
    adm_ticket_t *ticket = f->ctx;
    apr_status_t rv;

    if (!has_end_of_request(bb)) {
        return ap_pass_brigade(next, bb);
    }
    ap_remove_output_filter(f);
    /* Another request may reuse a ticket that has ended, so no bucket may have
     * it. */
    if (!adm_ticket_is_in_use(ticket)) {
        return ap_pass_brigade(next, bb);
    }
    if (atomic_load(&ticket->held) && !admission_mpm_flush(c) && !c->aborted
        && admission_release_to_program(ticket, !admission_mpm_is_async())
        && admission_mpm_is_async()) {
        return ap_pass_brigade(next, bb); /* the MPM sends the rest */
    }
    rv = ap_pass_brigade(next, bb);
    /* Destroys what the filters have not consumed, and with it the request. */
    apr_brigade_cleanup(bb);
    bb = apr_brigade_create(c->pool, c->bucket_alloc);
    APR_BRIGADE_INSERT_TAIL(bb, make_release_bucket(c->bucket_alloc, ticket));
    if (!admission_mpm_is_async()) {
        /* Without a flush, a pipelined request, or waiting for one, would hold
         * both buckets back in the core's output filter. */
        APR_BRIGADE_INSERT_TAIL(bb, apr_bucket_flush_create(c->bucket_alloc));
    }
    ap_pass_brigade(next, bb);
    apr_brigade_destroy(bb);
    return rv;
}

void admission_release_behind_response(conn_rec *c, adm_ticket_t *ticket)
{
    ap_add_output_filter_handle(release_filter, ticket, NULL, c);
}

void admission_release_register_filter(void)
{
    /* Above TLS: the bucket is not data. */
    release_filter = ap_register_output_filter("ADMISSION_RELEASE",
                                               append_release_bucket, NULL,
                                               AP_FTYPE_CONNECTION);
}

/* ---- the end ------------------------------------------------------------- */

/* How long a stream of HTTP/2 waits for its program to end. Its response is
 * sent, and the agent would need about as long to notice the end. */
#define STREAM_PATIENCE_USEC (200 * ADM_USEC_PER_MSEC)

/* Block until the ticket's programs have ended, for at most @a limit_usec.
 * @return whether they have. */
static bool await_end_of_program(const adm_ticket_t *ticket,
                                 adm_usec_t limit_usec)
{
    adm_usec_t until = adm_now() + limit_usec;
    bool is_over = adm_program_has_ended(ticket);

    while (!is_over && adm_now() < until) {
        apr_sleep(ADM_USEC_PER_MSEC);
        is_over = adm_program_has_ended(ticket);
    }
    return is_over;
}

bool admission_release_if_ended(adm_ticket_t *ticket, bool keeps_worker)
{
    if (!atomic_load(&ticket->held)
        || (adm_program_was_announced(ticket)
            && !adm_program_has_ended(ticket))) {
        return false;
    }
    if (keeps_worker) {
        adm_ticket_release_permit(ticket, adm_now());
    }
    else {
        adm_ticket_release(ticket, adm_now());
    }
    return true;
}

bool admission_release_to_program(adm_ticket_t *ticket, bool keeps_worker)
{
    if (admission_release_if_ended(ticket, keeps_worker)) {
        return true;
    }
    if (!atomic_load(&ticket->held) || !adm_program_is_seen(ticket)) {
        return false;
    }
    adm_ticket_abandon(ticket, keeps_worker, adm_now());
    return true;
}

/* @return whether httpd is about to run the ErrorDocument, which shares the
 * permit if it is in the same zone. */
static bool has_error_page(request_rec *r, int rv)
{
    const char *page = ap_is_HTTP_ERROR(rv) && !r->main
                           ? ap_response_code_string(r,
                                                     ap_index_of_response(rv))
                           : NULL;

    return page && page[0] == '/';
}

/* Release the permit of a request that has started a program, or leave it to
 * the program if the request might not end for long. An HTTP/2 stream is
 * destroyed when its connection is next active, which might be never while all
 * its other streams wait for this permit. @return whether the ticket has
 * ended. */
static bool end_with_program(request_rec *r, adm_ticket_t *ticket,
                             bool ends_late)
{
    bool is_stream = r->connection->master != NULL;
    bool is_over = is_stream && adm_program_is_seen(ticket)
                       ? await_end_of_program(ticket, STREAM_PATIENCE_USEC)
                       : adm_program_has_ended(ticket);

    return (is_over || ends_late || is_stream)
           && admission_release_to_program(ticket, false);
}

/* @return whether the thread is about to wait for the client, which does not
 * take all that httpd still holds back of the response. Call after the release:
 * a client that has its response must find the permit and the worker free. */
static bool waits_for_client(const request_rec *r)
{
    conn_rec *c = r->connection;

    return !admission_mpm_is_async() && !r->main && !c->master
           && !admission_mpm_flush(c) && !c->aborted;
}

bool admission_release_after_handler(request_rec *r, adm_ticket_t *ticket,
                                     int rv, bool ends_late)
{
    adm_program_withdraw();
    if (!atomic_load(&ticket->held)) {
        return true; /* a tunnel has started, or the output has ended */
    }
    /* SUSPENDED: the handler continues elsewhere. */
    if (rv != SUSPENDED
        && (!adm_program_was_announced(ticket)
            || (!has_error_page(r, rv)
                && end_with_program(r, ticket, ends_late)))) {
        adm_ticket_release(ticket, adm_now());
        /* After an error, the response is still to come: from an ErrorDocument
         * of a zone, it takes a worker itself. */
        if (!ap_is_HTTP_ERROR(rv) && waits_for_client(r)) {
            adm_ticket_take_worker(ticket);
            admission_release_behind_response(r->connection, ticket);
        }
        return true;
    }
    ap_log_rerror(APLOG_MARK, APLOG_TRACE1, 0, r,
                  "the program might still run and keeps the permit");
    /* An HTTP/2 stream needs no bucket: its own connection pool outlives the
     * request, and the pool's cleanup releases the ticket. */
    if (!r->connection->master) {
        admission_release_behind_response(r->connection, ticket);
    }
    return false;
}
