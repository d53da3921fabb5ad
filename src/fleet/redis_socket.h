/* redis_socket.h - one connection to a Redis or a Sentinel.
 * Called by redis_link and redis_sentinel.
 *
 * Never blocks. Rejects oversized replies before their memory is allocated.
 */
#ifndef REDIS_SOCKET_H
#define REDIS_SOCKET_H

#include <poll.h>

#include <hiredis/hiredis.h>

#include "redis_address.h"

/** Size of an error text, with its NUL. */
#define REDIS_SOCKET_WHY 200

typedef struct redis_socket_t {
    redisContext *context;        /* NULL: not connected */
    redis_tls_session_t *session; /* NULL: no TLS */
    size_t taken;                 /* bytes allocated for the incomplete reply */
} redis_socket_t;

/** Callback for a reply. @return an error that ends the connection, or NULL. */
typedef const char *redis_socket_take_t(void *data, const redisReply *reply);

/** Start to connect to the path of @a address, or else to @a place; with TLS if
 *  @a address has it.
 *  @return an error, valid until redis_socket_close(), or NULL. */
const char *redis_socket_connect(redis_socket_t *socket,
                                 const engine_address_t *address,
                                 const redis_place_t *place);

/** Drop the connection, if there is one. */
void redis_socket_close(redis_socket_t *socket);

/** @return the descriptor and its events, for poll(). */
struct pollfd redis_socket_pollfd(const redis_socket_t *socket);

/** Read and write as far as that does not block; pass replies to @a take.
 *  @return an error that ends the connection, possibly stored in @a why, or NULL. */
const char *redis_socket_transfer(redis_socket_t *socket,
                                  redis_socket_take_t *take, void *data,
                                  char why[REDIS_SOCKET_WHY]);

#endif
