/* spool_drain.h - what of an answer goes on to its client, and what is kept.
 *
 * Below is the rest of the filters, TLS and the socket. They take everything, but
 * make the thread wait for the client when too much of it is in memory. So no more
 * is passed on than the socket takes at once.
 *
 * A stream of HTTP/2 has no socket: what it passes on waits in a buffer of mod_http2,
 * 32 KB in memory and files of any length. So after the first bytes it passes on
 * files only, and never waits.
 */
#ifndef MOD_ADMISSION_DRAIN_H
#define MOD_ADMISSION_DRAIN_H

#include <httpd.h>
#include <util_filter.h>

#include "spool_kept.h"

/** No more than this in one piece. */
#define ADMISSION_PIECE ((apr_size_t)32 * 1024)

typedef struct admission_drain_t {
    ap_filter_t *f;
    admission_kept_t kept;
    apr_bucket_brigade *bb; /* on its way */
    apr_off_t in_memory;    /* HTTP/2: passed on so */
    bool is_flush_due;      /* admission_drain_flush_soon() */
} admission_drain_t;

/** At most @a room bytes are kept in @a drain, in the pool of its filter's request. */
void admission_drain_init(admission_drain_t *drain, apr_off_t room);

/** Pass on the data in @a data, of ADMISSION_PIECE bytes at most, or keep them.
 *  Blocks only if they can be neither. Leaves @a data empty. */
apr_status_t admission_drain_write(admission_drain_t *drain,
                                   apr_bucket_brigade *data);

/** As admission_drain_write(), only that it never blocks. Not for a stream of HTTP/2.
 *  @return APR_EAGAIN: what is left in @a data can be neither passed on nor kept. */
apr_status_t admission_drain_offer(admission_drain_t *drain,
                                   apr_bucket_brigade *data);

/** Pass on what the client takes without waiting. @return APR_EAGAIN: something is
 *  kept still. */
apr_status_t admission_drain_push(admission_drain_t *drain);

/** Pass on everything, with a FLUSH behind it. Blocks, but for streams of HTTP/2. */
apr_status_t admission_drain_flush(admission_drain_t *drain);

/** As admission_drain_flush(), only that nothing is done that would block: then it is
 *  due, and to be tried again. Not for a stream of HTTP/2. */
apr_status_t admission_drain_flush_soon(admission_drain_t *drain);

/** Pass on @a b, of which no filter knows a length, when nothing is kept. */
apr_status_t admission_drain_pass(admission_drain_t *drain, apr_bucket *b);

/** Pass on everything and @a end; what is in a file, as a file. May block. */
apr_status_t admission_drain_end(admission_drain_t *drain, apr_bucket *end);

/** @return whether nothing is kept. */
static inline bool admission_drain_is_empty(const admission_drain_t *drain)
{
    return admission_kept_length(&drain->kept) == 0;
}

/** @return whether everything has left this process, or will do when it is flushed,
 *  without a wait. Not for a stream of HTTP/2. */
bool admission_drain_is_idle(const admission_drain_t *drain);

/** @return whether the filters below take so many bytes without making the thread
 *  wait for the client, when nothing is kept. */
bool admission_drain_takes_at_once(const admission_drain_t *drain,
                                   apr_off_t length);

/** Wait until the client takes more, but not longer than this. @return whether it
 *  does. */
bool admission_drain_wait(const admission_drain_t *drain,
                          apr_interval_time_t patience);

#endif
