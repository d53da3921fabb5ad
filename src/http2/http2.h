/* http2.h - account for the threads and workers of HTTP/2 streams in zones. */
#ifndef HTTP2_H
#define HTTP2_H

#include "module/visit.h"

/**
 * Count a stream before it enters a zone: its mod_http2 thread, and a worker
 * if it is the first stream of its connection in a zone. Called by the stream's
 * thread.
 *
 * @return ADM_WORKER_NONE: the stream may enter, and must call
 *         admission_http2_leave() at its end. Otherwise the stream must be
 *         rejected; @a state->why_denied has the reason.
 */
adm_worker_t admission_http2_enter(const request_rec *r,
                                   admission_request_t *state);

/** admission_http2_leave() of a counted stream. */
void admission_http2_leave_counted(const request_rec *r,
                                   admission_request_t *state);

/** Undo admission_http2_enter() when the stream's visit ends. Does nothing for
 *  a request that was not counted. Any thread. */
static inline void admission_http2_leave(const request_rec *r,
                                         admission_request_t *state)
{
    if (state->counts_for_http2) {
        admission_http2_leave_counted(r, state);
    }
}

/** Prepare this child, which has been registered. */
void admission_http2_child_start(server_rec *s);

/** Raise H2MaxWorkers, unless it is set. Call before the configuration is
 *  processed. */
void admission_streams_pre_config(apr_pool_t *pconf);

/** Log the raised H2MaxWorkers, and warn of a queue that HTTP/2 streams cannot
 *  fill. */
void admission_streams_start(apr_pool_t *ptemp, server_rec *s);

#endif
