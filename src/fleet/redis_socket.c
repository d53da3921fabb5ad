/* redis_socket.c - one connection to a Redis or a Sentinel. */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>

#include "redis_socket.h"

/* Bytes; far more than any valid reply. */
#define LONGEST_REPLY (64 * 1024)

/* Elements of an array; far more than any valid reply has. hiredis allocates the whole
 * array when it reads the count, so the count must be checked first. */
#define MOST_PARTS 256

/* Type of the count in hiredis. */
#if HIREDIS_MAJOR >= 1
typedef size_t parts_t;
#else
typedef int parts_t;
#endif

/* Minimum bytes of an element, with its pointer. */
#define LEAST_PART 64

/* hiredis' functions, wrapped to fail for oversized replies. hiredis allocates each
 * part as it arrives, so the parts of an incomplete reply are added up. */
static redisReplyObjectFunctions limited_functions;
static void *(*create_array)(const redisReadTask *task, parts_t count);
static void *(*create_string)(const redisReadTask *task, char *text,
                              size_t length);

/* Count @a more bytes of the incomplete reply. @return whether its size is allowed. */
static bool count_bytes(const redisReadTask *task, size_t more)
{
    redis_socket_t *socket = task->privdata;

    socket->taken += more;
    return socket->taken <= LONGEST_REPLY;
}

static void *create_small_array(const redisReadTask *task, parts_t count)
{
    size_t more = count <= MOST_PARTS ? (size_t)count * LEAST_PART
                                      : LONGEST_REPLY + 1;

    return count_bytes(task, more) ? create_array(task, count) : NULL;
}

static void *create_small_string(const redisReadTask *task, char *text,
                                 size_t length)
{
    return count_bytes(task, length) ? create_string(task, text, length) : NULL;
}

/* Make hiredis reject oversized replies of this connection: any program can write to
 * Redis, and hiredis has no limit of its own. All connections share the wrapped
 * functions; the agent has one thread. */
static void limit_reply_size(redis_socket_t *socket, redisReader *reader)
{
    reader->maxbuf = 0; /* free the buffer when it is empty */
    if (!create_array) {
        limited_functions = *reader->fn;
        create_array = limited_functions.createArray;
        create_string = limited_functions.createString;
        limited_functions.createArray = create_small_array;
        limited_functions.createString = create_small_string;
    }
    reader->fn = &limited_functions;
    reader->privdata = socket;
}

/* @return the name that the certificate of @a place must have; NULL: any. */
static const char *expected_name(const engine_address_t *address,
                                 const redis_place_t *place)
{
    return address->has_any_name ? NULL
           : address->tls_name   ? address->tls_name
                                 : place->name;
}

const char *redis_socket_connect(redis_socket_t *socket,
                                 const engine_address_t *address,
                                 const redis_place_t *place)
{
    redisContext *context = address->path
                                ? redisConnectUnixNonBlock(address->path)
                                : redisConnectNonBlock(place->host,
                                                       place->port);

    socket->context = context;
    socket->session = NULL;
    socket->taken = 0;
    if (!context || context->err) {
        return context ? context->errstr : "no memory";
    }
    fcntl(context->fd, F_SETFD, FD_CLOEXEC);
    limit_reply_size(socket, context->reader);
    return address->tls ? redis_tls_begin(address->tls, context,
                                          expected_name(address, place),
                                          &socket->session)
                        : NULL;
}

void redis_socket_close(redis_socket_t *socket)
{
    if (socket->context) {
        redisFree(socket->context);
    }
    socket->context = NULL;
    socket->session = NULL;
}

/* During a TLS handshake, OpenSSL decides what to wait for. */
static short events_of(const redis_socket_t *socket)
{
    const redisContext *context = socket->context;
    short greeting = redis_tls_events(socket->session);

    return greeting
               ? greeting
               : (short)(POLLIN
                         | (context->obuf && *context->obuf ? POLLOUT : 0));
}

struct pollfd redis_socket_pollfd(const redis_socket_t *socket)
{
    return (struct pollfd){ .fd = socket->context->fd,
                            .events = events_of(socket) };
}

/* Pass all complete replies to @a take. Its error is copied to @a why, because it can
 * be part of the reply. */
static const char *take_all(redis_socket_t *socket, redis_socket_take_t *take,
                            void *data, char why[REDIS_SOCKET_WHY])
{
    redisReader *reader = socket->context->reader;
    const char *error = NULL;
    void *reply = NULL;

    while (!error && redisReaderGetReply(reader, &reply) == REDIS_OK && reply) {
        socket->taken = 0;
        error = take(data, reply);
        if (error) {
            snprintf(why, REDIS_SOCKET_WHY, "%s", error);
            error = why;
        }
        freeReplyObject(reply);
        reply = NULL;
    }
    if (!error
        && (socket->taken > LONGEST_REPLY
            || reader->len - reader->pos > LONGEST_REPLY)) {
        return "its reply is too large";
    }
    return !error && reader->err ? reader->errstr : error;
}

const char *redis_socket_transfer(redis_socket_t *socket,
                                  redis_socket_take_t *take, void *data,
                                  char why[REDIS_SOCKET_WHY])
{
    redisContext *context = socket->context;
    struct pollfd now = redis_socket_pollfd(socket);
    const char *error = NULL;
    int is_done = 0;

    if (poll(&now, 1, 0) <= 0) {
        return NULL;
    }
    /* Read first: the last reply tells more than an error of the connection. */
    if (now.revents & ~POLLOUT) {
        if (redisBufferRead(context) != REDIS_OK) {
            return redis_tls_error(socket->session, context->errstr, why,
                                   REDIS_SOCKET_WHY);
        }
        error = take_all(socket, take, data, why);
    }
    /* During a TLS handshake, either call continues it. */
    if (!error && now.revents & POLLOUT
        && redisBufferWrite(context, &is_done) != REDIS_OK) {
        error = redis_tls_error(socket->session, context->errstr, why,
                                REDIS_SOCKET_WHY);
    }
    return error;
}
