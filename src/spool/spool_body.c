/* spool_body.c - buffer request bodies that clients send slowly. */
#include <httpd.h>
#include <http_config.h>
#include <http_core.h>
#include <http_log.h>
#include <http_protocol.h>
#include <http_request.h>
#include <util_filter.h>

#include "module/conf.h"
#include "http2/http2.h"
#include "park/park_ready.h"
#include "park/park_resume.h"
#include "spool.h"
#include "module/process.h"

APLOG_USE_MODULE(admission);

/* Redirects share the request's pool, and so find its buffered body. */
#define KEY "mod_admission.upload"

#define READ_SIZE 65536

typedef struct admission_upload_t {
    request_rec *r;
    admission_buffer_t buffer;
    apr_bucket_brigade *rest; /* read, but not in `buffer`: the EOS, or data
                               * beyond its size */
    apr_bucket_brigade *body; /* for the handler; NULL: still being read */
    const char *handler;      /* httpd resets r->handler when the hook
                               * returns */
    int (*again)(request_rec *r);
} admission_upload_t;

static ap_filter_rec_t *replay_filter;

/* @return whether the request has announced a body. */
static bool has_body(const request_rec *r)
{
    const char *length = apr_table_get(r->headers_in, "Content-Length");

    return apr_table_get(r->headers_in, "Transfer-Encoding") != NULL
           || (length && strcmp(length, "0") != 0);
}

static admission_upload_t *upload_of(const request_rec *r)
{
    void *upload = NULL;

    apr_pool_userdata_get(&upload, KEY, r->pool);
    return upload;
}

/* ---- the handler reads ------------------------------------------------------ */

/* Copy the buckets before @a end, and leave them in @a from. */
static apr_status_t peek(apr_bucket_brigade *from, apr_bucket_brigade *to,
                         apr_bucket *end)
{
    apr_status_t rv = APR_SUCCESS;
    apr_bucket *b, *copy;

    for (b = APR_BRIGADE_FIRST(from); b != end && rv == APR_SUCCESS;
         b = APR_BUCKET_NEXT(b)) {
        rv = apr_bucket_copy(b, &copy);
        if (rv == APR_SUCCESS) {
            APR_BRIGADE_INSERT_TAIL(to, copy);
        }
    }
    return rv;
}

static void take_until(apr_bucket_brigade *from, apr_bucket_brigade *to,
                       const apr_bucket *end)
{
    while (!APR_BRIGADE_EMPTY(from) && APR_BRIGADE_FIRST(from) != end) {
        apr_bucket *b = APR_BRIGADE_FIRST(from);

        APR_BUCKET_REMOVE(b);
        APR_BRIGADE_INSERT_TAIL(to, b);
    }
}

/* Input filter: read from the buffered body until it is empty, then from the
 * filters below. */
static apr_status_t replay(ap_filter_t *f, apr_bucket_brigade *bb,
                           ap_input_mode_t mode, apr_read_type_e block,
                           apr_off_t bytes)
{
    apr_bucket_brigade *body = f->ctx;
    apr_bucket *end;
    apr_status_t rv;

    if (APR_BRIGADE_EMPTY(body)) {
        ap_remove_input_filter(f);
        return ap_get_brigade(f->next, bb, mode, block, bytes);
    }
    if (mode == AP_MODE_GETLINE) {
        return apr_brigade_split_line(bb, body, block, HUGE_STRING_LEN);
    }
    if (mode == AP_MODE_EXHAUSTIVE) {
        APR_BRIGADE_CONCAT(bb, body);
        return APR_SUCCESS;
    }
    if (mode != AP_MODE_READBYTES && mode != AP_MODE_SPECULATIVE) {
        return APR_SUCCESS;
    }
    rv = apr_brigade_partition(body, bytes, &end);
    if (rv != APR_SUCCESS && rv != APR_INCOMPLETE) {
        return rv;
    }
    if (mode == AP_MODE_SPECULATIVE) {
        return peek(body, bb, end);
    }
    take_until(body, bb, end);
    /* EOS comes with the last data, as from httpd: mod_ext_filter returns nothing
     * before it, and handlers take that for the end. */
    if (!APR_BRIGADE_EMPTY(body) && APR_BUCKET_IS_EOS(end)) {
        take_until(body, bb, APR_BUCKET_NEXT(end));
    }
    return APR_SUCCESS;
}

static void add_replay(request_rec *r, const admission_upload_t *upload)
{
    if (upload->body && !APR_BRIGADE_EMPTY(upload->body)) {
        ap_add_input_filter_handle(replay_filter, upload->body, r,
                                   r->connection);
    }
}

/* Give a redirected request the body that was read before the redirect: httpd
 * drops the request's filters. */
static void insert_filter(request_rec *r)
{
    if (r->prev && has_body(r)) {
        const admission_upload_t *upload = upload_of(r);

        if (upload) {
            add_replay(r, upload);
        }
    }
}

void spool_body_register(void)
{
    /* Above the filters that decode HTTP. Below all filters that change or
     * inspect a body: they run when the handler reads. */
    replay_filter = ap_register_input_filter("ADMISSION_REPLAY", replay, NULL,
                                             AP_FTYPE_PROTOCOL - 1);
    ap_hook_insert_filter(insert_filter, NULL, NULL, APR_HOOK_MIDDLE);
}

/* ---- read ------------------------------------------------------------------- */

/* Buffer one bucket. @return APR_EOF if nothing more must be read: at the end
 * of the body, or if the buffer is full. */
static apr_status_t buffer_bucket(admission_upload_t *upload, apr_bucket *b)
{
    const char *data;
    apr_size_t length, buffered;
    apr_status_t rv;

    if (APR_BUCKET_IS_EOS(b)) {
        APR_BUCKET_REMOVE(b);
        APR_BRIGADE_INSERT_TAIL(upload->rest, b);
        /* The client has not waited for "100 Continue". httpd would close its
         * connection if the request still expected it. */
        upload->r->expecting_100 = 0;
        return APR_EOF;
    }
    if (APR_BUCKET_IS_METADATA(b)) {
        apr_bucket_delete(b);
        return APR_SUCCESS;
    }
    rv = apr_bucket_read(b, &data, &length, APR_BLOCK_READ);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    rv = admission_buffer_put(&upload->buffer, data, length, &buffered);
    if (buffered < length) {
        if (!APR_STATUS_IS_EAGAIN(rv)) {
            admission_buffer_log(upload->r, rv);
        }
        apr_brigade_write(upload->rest, NULL, NULL, data + buffered,
                          length - buffered);
    }
    apr_bucket_delete(b);
    return buffered < length ? APR_EOF : APR_SUCCESS;
}

/* Buffer the data. At APR_EOF, the buckets that were not buffered are in `rest`. */
static apr_status_t buffer_all(admission_upload_t *upload,
                               apr_bucket_brigade *bb)
{
    apr_status_t rv = APR_SUCCESS;

    while (!APR_BRIGADE_EMPTY(bb) && rv == APR_SUCCESS) {
        rv = buffer_bucket(upload, APR_BRIGADE_FIRST(bb));
    }
    if (rv == APR_EOF) {
        APR_BRIGADE_CONCAT(upload->rest, bb);
    }
    return rv;
}

static bool has_enough(const admission_upload_t *upload)
{
    return admission_buffer_length(&upload->buffer) >= upload->buffer.room;
}

/* Read the body from below all filters that change it. @return APR_EOF: done,
 * at the end of the body or of the buffer; APR_EAGAIN: no more data yet. */
static apr_status_t read_body(admission_upload_t *upload, apr_read_type_e block)
{
    request_rec *r = upload->r;
    apr_bucket_brigade *bb = apr_brigade_create(r->pool,
                                                r->connection->bucket_alloc);
    apr_status_t rv = APR_SUCCESS;

    while (rv == APR_SUCCESS) {
        rv = has_enough(upload)
                 ? APR_EOF
                 : ap_get_brigade(r->proto_input_filters, bb, AP_MODE_READBYTES,
                                  block, READ_SIZE);
        if (rv == APR_SUCCESS && APR_BRIGADE_EMPTY(bb)) {
            rv = APR_EAGAIN;
        }
        if (rv == APR_SUCCESS) {
            rv = buffer_all(upload, bb);
        }
        else if (rv == APR_EOF && !has_enough(upload)) {
            rv = APR_INCOMPLETE; /* the client has disconnected */
        }
    }
    apr_brigade_destroy(bb);
    return rv;
}

/* Let the handler read the buffered body. */
static void end_reading(admission_upload_t *upload)
{
    request_rec *r = upload->r;

    upload->body = apr_brigade_create(r->pool, r->connection->bucket_alloc);
    admission_buffer_hand_over(&upload->buffer, upload->body, r->pool);
    APR_BRIGADE_CONCAT(upload->body, upload->rest);
    add_replay(r, upload);
}

/* @param rv  result of read_body(), other than APR_EAGAIN. @return OK, or the
 * HTTP status of the error, which closes the connection. */
static int finish(admission_upload_t *upload, apr_status_t rv)
{
    request_rec *r = upload->r;

    if (rv == APR_EOF) {
        end_reading(upload);
        return OK;
    }
    ap_log_rerror(APLOG_MARK, APLOG_INFO, rv, r, ADMLOGNO(0214)
                  "AdmissionSpool: cannot read the request body; the "
                  "request is not run");
    r->connection->keepalive = AP_CONN_CLOSE;
    return ap_map_http_request_error(rv, HTTP_BAD_REQUEST);
}

/* ---- without a worker ------------------------------------------------------- */

static int run(request_rec *r, void *data)
{
    admission_upload_t *upload = data;

    return upload->again(r);
}

static int fail(request_rec *r, void *status)
{
    return *(int *)status;
}

/* The client has sent more, or has timed out. @return whether to wait again. If
 * not, the request is continued or rejected, and can be gone. */
static bool resume(admission_ready_t *ready)
{
    admission_upload_t *upload = ready->data;
    apr_off_t had = admission_buffer_length(&upload->buffer);
    apr_status_t rv = read_body(upload, APR_NONBLOCK_READ);
    int status;

    if (APR_STATUS_IS_EAGAIN(rv)) {
        if (admission_buffer_length(&upload->buffer) > had) {
            admission_ready_note(ready);
        }
        if (admission_ready_wait(ready, false)) {
            return true;
        }
        rv = ready->is_last_chance ? APR_TIMEUP
                                   : read_body(upload, APR_BLOCK_READ);
    }
    admission_ready_end(ready);
    status = finish(upload, rv);
    return admission_resume_handler(upload->r, upload->handler,
                                    status == OK ? run : fail,
                                    status == OK ? (void *)upload
                                                 : (void *)&status);
}

/* Send "100 Continue", which a non-blocking read does not do. */
static void send_continue(request_rec *r)
{
    if (r->expecting_100 && r->proto_num >= HTTP_VERSION(1, 1)) {
        const char *status_line = r->status_line;
        int status = r->status;

        r->status = HTTP_CONTINUE;
        r->status_line = ap_get_status_line(HTTP_CONTINUE); /* for 2.4.37 */
        ap_send_interim_response(r, 0);
        r->status = status;
        r->status_line = status_line;
    }
}

/* Read without a worker: what has arrived now, the rest when it arrives.
 * @return OK, SUSPENDED or an HTTP status. */
static int read_parked(admission_upload_t *upload)
{
    request_rec *r = upload->r;
    admission_ready_t *ready;
    apr_status_t rv;

    /* Read first: this rejects a body that is too long before the client is
     * asked for it. */
    rv = read_body(upload, APR_NONBLOCK_READ);
    if (!APR_STATUS_IS_EAGAIN(rv)) {
        return finish(upload, rv);
    }
    send_continue(r);
    ready = admission_ready_begin(r, resume, upload);
    if (ready && admission_ready_wait(ready, false)) {
        return SUSPENDED;
    }
    if (ready) {
        admission_ready_end(ready);
    }
    end_reading(upload); /* no capacity: the handler reads the rest */
    return OK;
}

/* ---- with a worker ---------------------------------------------------------- */

/* Read while holding a worker, which counts as blocked. If none may be
 * occupied, the handler reads instead: the request enters its zone now, and is
 * rejected or gets a permit. */
static int read_blocked(admission_upload_t *upload)
{
    request_rec *r = upload->r;
    admission_request_t stream = { 0 };
    apr_status_t rv;

    if (r->connection->master
            ? admission_http2_enter(r, &stream) != ADM_WORKER_NONE
            : adm_worker_occupy(admission_process_child()) != ADM_WORKER_NONE) {
        end_reading(upload);
        return OK;
    }
    rv = read_body(upload, APR_BLOCK_READ);
    if (r->connection->master) {
        admission_http2_leave(r, &stream);
    }
    else {
        adm_worker_vacate(admission_process_child());
    }
    return finish(upload, rv);
}

/* ---- the request ------------------------------------------------------------ */

int spool_body_read(request_rec *r, const admission_dir_conf_t *conf,
                    int (*again)(request_rec *r))
{
    apr_off_t room = spool_conf_request(&conf->spool);
    admission_upload_t *upload;

    if (room == 0 || !has_body(r) || r->main || admission_conf_is_dry_run(conf)
        || upload_of(r)
        || adm_zone_seems_full(admission_process_child(),
                               admission_conf_zone(conf)->handle,
                               (uint32_t)admission_conf_queue(conf)->length)) {
        return OK;
    }
    upload = apr_pcalloc(r->pool, sizeof(*upload));
    upload->r = r;
    upload->handler = r->handler;
    upload->again = again;
    upload->rest = apr_brigade_create(r->pool, r->connection->bucket_alloc);
    admission_buffer_init(&upload->buffer, r->pool, ADMISSION_BUFFER_QUEUE,
                          room);
    apr_pool_userdata_setn(upload, KEY, NULL, r->pool);
    return admission_resume_is_possible(r) ? read_parked(upload)
                                           : read_blocked(upload);
}
