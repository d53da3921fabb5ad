/* mod_admission_http2.h - streams, which run on threads of mod_http2. */
#ifndef MOD_ADMISSION_HTTP2_H
#define MOD_ADMISSION_HTTP2_H

#include "request/mod_admission_visit.h"

/** As many streams as may visit zones at once are counted here. @return whether
 *  this one may; then admission_http2_leave() is due. */
int admission_http2_enter(admission_request_t *known);

/** The stream's visit is over. Does nothing for others. */
void admission_http2_leave(admission_request_t *known);

void admission_http2_child_init(apr_pool_t *pchild, server_rec *s);

#endif
