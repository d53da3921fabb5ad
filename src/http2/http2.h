/* http2.h - streams, which run on threads of mod_http2. */
#ifndef HTTP2_H
#define HTTP2_H

#include "module/visit.h"

/**
 * Count a stream that is to enter a zone: it takes a thread of mod_http2, and a
 * worker if it is the only one of its connection. The thread of the stream.
 *
 * @return what it enters with. ADM_WORKER_NONE: admission_http2_leave() is due.
 *         Else it may neither run nor wait, and @a known has the reason.
 */
adm_worker_t admission_http2_enter(const request_rec *r,
                                   admission_request_t *known);

/** admission_http2_leave() of one that is counted. */
void admission_http2_leave_counted(const request_rec *r,
                                   admission_request_t *known);

/** The stream's visit is over. Does nothing for others. Any thread. */
static inline void admission_http2_leave(const request_rec *r,
                                         admission_request_t *known)
{
    if (known->counts_for_http2) {
        admission_http2_leave_counted(r, known);
    }
}

void admission_http2_child_init(apr_pool_t *pchild, server_rec *s);

#endif
