/* redis_tls.h - TLS to the engine, where it was built with hiredis_ssl.
 * Called by redis_address and redis_socket.
 *
 * Who cannot prove to be the one that was meant is no engine: there is no connection
 * without a certificate that is trusted, nor one of another name.
 */
#ifndef REDIS_TLS_H
#define REDIS_TLS_H

#include <stddef.h>

#include <apr_pools.h>
#include <hiredis/hiredis.h>

/** Whom to trust, and the certificate to show. */
typedef struct redis_tls_t redis_tls_t;

/** One connection. It ends with that of hiredis. */
typedef struct ssl_st redis_tls_session_t;

/** Read the files, in the parent.
 *
 * @param asked  the word of the configuration that asks for TLS
 * @param files  "ca-file" or "ca-file,certificate,key"; NULL: the system's authorities
 * @return an error; NULL: they are read */
const char *redis_tls_read(apr_pool_t *p, const char *asked, const char *files,
                           const redis_tls_t **tls);

/** Begin TLS on a connection that is being made.
 *
 * @param name  what the certificate has to be of: a name or an address; NULL: any
 * @return why not; NULL: @a session has begun */
const char *redis_tls_begin(const redis_tls_t *tls, redisContext *context,
                            const char *name, redis_tls_session_t **session);

/** @return what of poll() it waits for while it greets; 0: it has greeted. */
short redis_tls_events(const redis_tls_session_t *session);

/** @return why a connection has failed, which says itself @a otherwise. Written to
 *  @a text if it is TLS that knows it. */
const char *redis_tls_why(const redis_tls_session_t *session,
                          const char *otherwise, char *text, size_t room);

#endif
