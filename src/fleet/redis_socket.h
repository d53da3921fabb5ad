/* redis_socket.h - one connection, to a Redis or to a Sentinel.
 * Called by redis_link and redis_sentinel.
 *
 * It never blocks, and takes no answer that is too large.
 */
#ifndef REDIS_SOCKET_H
#define REDIS_SOCKET_H

#include <poll.h>

#include <hiredis/hiredis.h>

#include "redis_address.h"

/** Why a connection has to end, with its end. */
#define REDIS_SOCKET_WHY 200

typedef struct redis_socket_t {
    redisContext *context; /* NULL: there is none */
    redis_tls_session_t *session;
    size_t taken; /* by an answer that is not complete */
} redis_socket_t;

/** What takes an answer. @return why the connection has to end; NULL: it goes on. */
typedef const char *redis_socket_take_t(void *data, const redisReply *reply);

/** Begin a connection to @a place, with TLS where @a address says so; to the path where
 *  it has one.
 *  @return why not, which lives as long as the socket; NULL: it has begun. */
const char *redis_socket_dial(redis_socket_t *socket,
                              const engine_address_t *address,
                              const redis_place_t *place);

/** End it, if there is one. */
void redis_socket_hang_up(redis_socket_t *socket);

/** @return what to wait for. */
struct pollfd redis_socket_wait_for(const redis_socket_t *socket);

/** Write what can be written, read what has come and have it taken.
 *  @return why the connection has to end, which may be in @a why; NULL: it goes on. */
const char *redis_socket_move(redis_socket_t *socket, redis_socket_take_t *take,
                              void *data, char why[REDIS_SOCKET_WHY]);

#endif
