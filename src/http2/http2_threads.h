/* http2_threads.h - give mod_http2 enough threads for streams that wait. */
#ifndef HTTP2_STREAMS_H
#define HTTP2_STREAMS_H

#include <httpd.h>

/** Raise H2MaxWorkers, unless it is set. Call before the configuration is
 *  processed. */
void admission_streams_pre_config(apr_pool_t *pconf);

/** @return the number of streams that may be in zones concurrently, per
 *  child. */
int admission_streams_room(server_rec *s);

/** Log the raised H2MaxWorkers, and warn of a queue that HTTP/2 streams cannot
 *  fill. */
int admission_streams_post_config(apr_pool_t *pconf, apr_pool_t *plog,
                                  apr_pool_t *ptemp, server_rec *s);

#endif
