/* spool_drain.h - pass output to a client as fast as it reads, and buffer the
 * rest.
 *
 * The filters below (TLS, the socket) accept everything, but block the thread
 * when too much of it is in memory. So the drain passes on only what the socket
 * takes without waiting.
 *
 * An HTTP/2 stream has no socket. mod_http2 buffers its output: 32 KB in
 * memory, and files of any length. So the drain passes on the first bytes, then
 * only files, and never blocks.
 *
 * Functions return APR_SUCCESS or the error of a filter, and APR_ECONNABORTED
 * if the client has disconnected. They belong to the request's thread.
 */
#ifndef SPOOL_DRAIN_H
#define SPOOL_DRAIN_H

#include <httpd.h>
#include <util_filter.h>

#include "spool_buffer.h"

/** Maximum size of one piece, in bytes. */
#define ADMISSION_PIECE ((apr_size_t)32 * 1024)

typedef struct admission_drain_t {
    ap_filter_t *f;
    admission_buffer_t buffer;
    apr_bucket_brigade *bb; /* about to be passed on */
    apr_off_t in_memory;    /* HTTP/2: bytes passed on from memory */
    bool is_flush_due;      /* see admission_drain_flush_soon() */
} admission_drain_t;

/** Initialize @a drain, whose filter `f` is set. @param room  bytes to buffer
 *  at most, in memory and files that live as long as the request's pool */
void admission_drain_init(admission_drain_t *drain, apr_off_t room);

/** Pass on or buffer @a data, at most ADMISSION_PIECE bytes. Blocks only if
 *  neither is possible. Empties @a data. */
apr_status_t admission_drain_write(admission_drain_t *drain,
                                   apr_bucket_brigade *data);

/**
 * As admission_drain_write(), but never blocks. Not for HTTP/2 streams.
 * @return APR_EAGAIN if the rest of @a data can be neither passed on nor
 *         buffered.
 */
apr_status_t admission_drain_offer(admission_drain_t *drain,
                                   apr_bucket_brigade *data);

/**
 * Pass on what the client takes without blocking. Not for HTTP/2 streams.
 * @return APR_EAGAIN if buffered data are left.
 */
apr_status_t admission_drain_push(admission_drain_t *drain);

/** Pass on everything, followed by a FLUSH bucket. Blocks, except for HTTP/2
 *  streams. */
apr_status_t admission_drain_flush(admission_drain_t *drain);

/** As admission_drain_flush(), but never blocks: what remains is due
 *  (is_flush_due), and the caller must try again. Not for HTTP/2 streams. */
apr_status_t admission_drain_flush_soon(admission_drain_t *drain);

/** Pass on a metadata bucket. The buffer must be empty. */
apr_status_t admission_drain_pass(admission_drain_t *drain, apr_bucket *b);

/** Pass on everything, then @a end. A buffered file is passed on as a file.
 *  Might block. */
apr_status_t admission_drain_end(admission_drain_t *drain, apr_bucket *end);

/** @return whether nothing is buffered. */
static inline bool admission_drain_is_empty(const admission_drain_t *drain)
{
    return admission_buffer_length(&drain->buffer) == 0;
}

/** @return whether everything has left this process, or will without blocking
 *  when it is flushed. Not for HTTP/2 streams. */
bool admission_drain_is_idle(const admission_drain_t *drain);

/** @return whether the filters below take @a length bytes without blocking, if
 *  nothing is buffered. False for HTTP/2 streams. */
bool admission_drain_takes_now(const admission_drain_t *drain,
                               apr_off_t length);

/** Block until the client takes more, at most for @a patience. @return whether
 *  it does. */
bool admission_drain_wait(const admission_drain_t *drain,
                          apr_interval_time_t patience);

#endif
