/* spool_drain.c - pass output on as fast as the client reads. */
#include <httpd.h>
#include <poll.h>

#include <apr_portable.h>
#include <http_config.h>
#include <http_core.h>
#include <http_log.h>
#include <http_protocol.h>

#include "module/conf.h"
#include "park/park_mpm.h"
#include "spool_drain.h"
#include "module/process.h"

APLOG_USE_MODULE(admission);

/* Bytes of an HTTP/2 stream passed on from memory: less than mod_http2
 * buffers. */
#define STREAM_MEMORY ((apr_off_t)16 * 1024)

/* An HTTP/2 stream passes on a file when it has this size, or is flushed. */
#define STREAM_PART ((apr_off_t)256 * 1024)

void admission_drain_init(admission_drain_t *drain, apr_off_t room)
{
    ap_filter_t *f = drain->f;
    request_rec *r = f->r;

    drain->bb = apr_brigade_create(r->pool, f->c->bucket_alloc);
    drain->in_memory = 0;
    drain->is_flush_due = false;
    admission_buffer_init(&drain->buffer, r->pool,
                          f->c->master ? ADMISSION_BUFFER_LOG
                                       : ADMISSION_BUFFER_QUEUE,
                          room);
}

static apr_status_t pass(admission_drain_t *drain)
{
    apr_status_t rv = ap_pass_brigade(drain->f->next, drain->bb);

    apr_brigade_cleanup(drain->bb);
    return rv != APR_SUCCESS      ? rv
           : drain->f->c->aborted ? APR_ECONNABORTED
                                  : APR_SUCCESS;
}

static apr_status_t pass_flushed(admission_drain_t *drain)
{
    APR_BRIGADE_INSERT_TAIL(drain->bb,
                            apr_bucket_flush_create(drain->f->c->bucket_alloc));
    return pass(drain);
}

/* ---- the socket ----------------------------------------------------------- */

bool admission_drain_wait(const admission_drain_t *drain,
                          apr_interval_time_t patience)
{
    struct timespec time = { .tv_sec = (time_t)apr_time_sec(patience),
                             .tv_nsec = (long)apr_time_usec(patience) * 1000 };
    struct pollfd client = { .events = POLLOUT };
    apr_socket_t *socket = ap_get_conn_socket(drain->f->c);

    return socket && apr_os_sock_get(&client.fd, socket) == APR_SUCCESS
           && ppoll(&client, 1, &time, NULL) > 0;
}

/* ---- the buffer ----------------------------------------------------------- */

/* Move the next buffered piece to the brigade that is passed on. */
static apr_status_t take_piece(admission_drain_t *drain)
{
    apr_bucket_alloc_t *alloc = drain->f->c->bucket_alloc;
    char *data = apr_bucket_alloc(ADMISSION_PIECE, alloc);
    apr_status_t rv;
    apr_size_t length = admission_buffer_take(&drain->buffer, data,
                                              ADMISSION_PIECE, &rv);

    if (rv != APR_SUCCESS) {
        apr_bucket_free(data);
        ap_log_rerror(
            APLOG_MARK, APLOG_ERR, rv, drain->f->r, ADMLOGNO(0212)
            "AdmissionSpool: cannot read back a response that was buffered in "
            "%s: its connection is closed, and the client gets an incomplete "
            "response; check the file system",
            admission_buffer_directory());
        drain->f->c->aborted = 1; /* the response would have a gap */
        return rv;
    }
    APR_BRIGADE_INSERT_TAIL(drain->bb,
                            apr_bucket_heap_create(data, length,
                                                   apr_bucket_free, alloc));
    return APR_SUCCESS;
}

/* Buffer the data of the first bucket, which are in memory. @return APR_EAGAIN,
 * with the rest left in the bucket, if the buffer is full. */
static apr_status_t buffer_bucket(admission_drain_t *drain, apr_bucket *b)
{
    const char *data;
    apr_size_t length, buffered;
    apr_status_t rv = apr_bucket_read(b, &data, &length, APR_BLOCK_READ);

    if (rv != APR_SUCCESS) {
        return rv;
    }
    rv = admission_buffer_put(&drain->buffer, data, length, &buffered);
    if (buffered < length) {
        if (buffered > 0) {
            apr_bucket_split(b, buffered);
            apr_bucket_delete(b);
        }
        if (!APR_STATUS_IS_EAGAIN(rv)) {
            admission_buffer_log(drain->f->r, rv);
        }
        return APR_EAGAIN;
    }
    apr_bucket_delete(b);
    return APR_SUCCESS;
}

/* @return APR_EAGAIN if the buffer is full; the rest stays in @a data. */
static apr_status_t buffer_all(admission_drain_t *drain,
                               apr_bucket_brigade *data)
{
    apr_status_t rv = APR_SUCCESS;

    while (!APR_BRIGADE_EMPTY(data) && rv == APR_SUCCESS) {
        rv = buffer_bucket(drain, APR_BRIGADE_FIRST(data));
    }
    return rv;
}

/* ---- HTTP/1 --------------------------------------------------------------- */

apr_status_t admission_drain_push(admission_drain_t *drain)
{
    conn_rec *c = drain->f->c;
    apr_status_t rv = APR_SUCCESS;

    while (rv == APR_SUCCESS && !admission_drain_is_empty(drain)
           && admission_mpm_flush(c)) {
        rv = take_piece(drain);
        if (rv == APR_SUCCESS) {
            rv = pass(drain);
        }
    }
    if (c->aborted) {
        return APR_ECONNABORTED;
    }
    return rv == APR_SUCCESS && !admission_drain_is_empty(drain) ? APR_EAGAIN
                                                                 : rv;
}

bool admission_drain_is_idle(const admission_drain_t *drain)
{
    /* The socket is checked as well: TLS might hold back a few bytes until it
     * is flushed. */
    return admission_drain_is_empty(drain) && admission_mpm_flush(drain->f->c)
           && admission_drain_wait(drain, 0);
}

bool admission_drain_takes_now(const admission_drain_t *drain, apr_off_t length)
{
    return !drain->f->c->master && length <= (apr_off_t)ADMISSION_PIECE
           && admission_mpm_flush(drain->f->c);
}

/* The buffer is full: block until the client takes a piece, as without
 * AdmissionSpool. */
static apr_status_t wait_for_room(admission_drain_t *drain,
                                  apr_bucket_brigade *data)
{
    apr_status_t rv = APR_SUCCESS;

    if (admission_drain_is_empty(drain)) {
        APR_BRIGADE_CONCAT(drain->bb, data);
    }
    else {
        rv = take_piece(drain);
    }
    return rv == APR_SUCCESS ? pass_flushed(drain) : rv;
}

apr_status_t admission_drain_offer(admission_drain_t *drain,
                                   apr_bucket_brigade *data)
{
    apr_status_t rv;

    if (admission_drain_is_empty(drain) && admission_mpm_flush(drain->f->c)) {
        APR_BRIGADE_CONCAT(drain->bb, data);
        return pass(drain);
    }
    rv = buffer_all(drain, data);
    if (rv == APR_SUCCESS) {
        rv = admission_drain_push(drain);
        return APR_STATUS_IS_EAGAIN(rv) ? APR_SUCCESS : rv;
    }
    return rv;
}

/* For HTTP/1: blocks only while data can be neither passed on nor buffered. */
static apr_status_t write_or_wait(admission_drain_t *drain,
                                  apr_bucket_brigade *data)
{
    apr_status_t rv = admission_drain_offer(drain, data);

    while (APR_STATUS_IS_EAGAIN(rv)) {
        rv = wait_for_room(drain, data);
        if (rv == APR_SUCCESS && !APR_BRIGADE_EMPTY(data)) {
            rv = admission_drain_offer(drain, data);
        }
    }
    return rv;
}

/* ---- HTTP/2 streams ------------------------------------------------------- */

/* Pass on the first bytes from memory, then files of STREAM_PART bytes or
 * more. */
static apr_status_t write_to_stream(admission_drain_t *drain,
                                    apr_bucket_brigade *data)
{
    apr_off_t length;
    apr_status_t rv = apr_brigade_length(data, 1, &length);

    if (rv == APR_SUCCESS && admission_drain_is_empty(drain)
        && drain->in_memory + length <= STREAM_MEMORY) {
        drain->in_memory += length;
        APR_BRIGADE_CONCAT(drain->bb, data);
        return pass(drain);
    }
    if (rv == APR_SUCCESS) {
        rv = buffer_all(drain, data);
    }
    if (rv == APR_SUCCESS
        && admission_buffer_length(&drain->buffer) < STREAM_PART) {
        return rv;
    }
    if (rv == APR_SUCCESS || APR_STATUS_IS_EAGAIN(rv)) {
        admission_buffer_hand_over(&drain->buffer, drain->bb,
                                   drain->f->r->pool);
        APR_BRIGADE_CONCAT(drain->bb, data); /* what could not be buffered */
        rv = pass(drain);
    }
    return rv;
}

/* ---- both ----------------------------------------------------------------- */

apr_status_t admission_drain_write(admission_drain_t *drain,
                                   apr_bucket_brigade *data)
{
    apr_status_t rv = drain->f->c->master ? write_to_stream(drain, data)
                                          : write_or_wait(drain, data);

    apr_brigade_cleanup(data);
    return rv;
}

apr_status_t admission_drain_flush(admission_drain_t *drain)
{
    apr_status_t rv = APR_SUCCESS;

    if (drain->f->c->master) {
        admission_buffer_hand_over(&drain->buffer, drain->bb,
                                   drain->f->r->pool);
        return pass_flushed(drain);
    }
    while (rv == APR_SUCCESS && !admission_drain_is_empty(drain)) {
        rv = take_piece(drain);
        if (rv == APR_SUCCESS) {
            rv = pass_flushed(drain);
        }
    }
    return rv == APR_SUCCESS ? pass_flushed(drain) : rv;
}

apr_status_t admission_drain_flush_soon(admission_drain_t *drain)
{
    apr_status_t rv = admission_drain_push(drain);

    drain->is_flush_due = true;
    if (rv == APR_SUCCESS && admission_drain_is_idle(drain)) {
        drain->is_flush_due = false;
        rv = admission_drain_flush(drain);
    }
    return APR_STATUS_IS_EAGAIN(rv) ? APR_SUCCESS : rv;
}

apr_status_t admission_drain_pass(admission_drain_t *drain, apr_bucket *b)
{
    APR_BRIGADE_INSERT_TAIL(drain->bb, b);
    return pass(drain);
}

apr_status_t admission_drain_end(admission_drain_t *drain, apr_bucket *end)
{
    admission_buffer_hand_over(&drain->buffer, drain->bb, drain->f->r->pool);
    return admission_drain_pass(drain, end);
}
