/* redis_tls.h - TLS to the engine, if built with hiredis_ssl.
 * Called by redis_address and redis_socket.
 *
 * A connection needs a trusted certificate with the expected name.
 */
#ifndef REDIS_TLS_H
#define REDIS_TLS_H

#include <stddef.h>

#include <apr_pools.h>
#include <hiredis/hiredis.h>

/** Trusted authorities, and the client certificate. */
typedef struct redis_tls_t redis_tls_t;

/** TLS of one connection. Freed with hiredis' context. */
typedef struct ssl_st redis_tls_session_t;

/** Read the files, in the parent. @a tls is freed with @a p.
 *
 * @param asked  argument of the directive that asks for TLS, for errors
 * @param files  "ca-file" or "ca-file,certificate,key"; NULL: the system's authorities
 * @return an error, or NULL */
const char *redis_tls_read(apr_pool_t *p, const char *asked, const char *files,
                           const redis_tls_t **tls);

/** Start TLS on a connection, which can still be in progress.
 *
 * @param name  host name or address that the certificate must have; NULL: any
 * @param session  set on success
 * @return an error, or NULL */
const char *redis_tls_begin(const redis_tls_t *tls, redisContext *context,
                            const char *name, redis_tls_session_t **session);

/** @return the events for poll() during the handshake; 0 after it, or without TLS. */
short redis_tls_events(const redis_tls_session_t *session);

/** @return why a connection failed: @a text, filled with the reason if it is TLS;
 *  else @a otherwise. Clears OpenSSL's errors. */
const char *redis_tls_error(const redis_tls_session_t *session,
                            const char *otherwise, char *text, size_t room);

#endif
