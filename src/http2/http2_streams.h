/* http2_streams.h - threads for HTTP/2 streams that wait. */
#ifndef HTTP2_STREAMS_H
#define HTTP2_STREAMS_H

#include <httpd.h>

/** Raise the number of threads that mod_http2 may have, where the administrator
 *  leaves it to us, before the configuration is processed. */
void admission_streams_pre_config(apr_pool_t *pconf);

/** @return how many streams may be in zones at once, in each child. */
int admission_streams_room(server_rec *s);

/** Say in the error log what was raised, and warn of a queue that streams cannot
 *  fill. */
int admission_streams_post_config(apr_pool_t *pconf, apr_pool_t *plog,
                                  apr_pool_t *ptemp, server_rec *s);

#endif
