/* redis_sentinel.c - asks Sentinels for the address of the master. */
#include <stdio.h>

#include "redis_sentinel.h"
#include "redis_words.h"

static const char *start(redis_sentinel_t *sentinel,
                         const engine_address_t *address, int64_t now)
{
    const char *error = redis_socket_connect(&sentinel->socket, address,
                                             &address->places[sentinel->next]);

    sentinel->deadline = now + address->timeout_usec;
    sentinel->has_replied = false;
    if (!error) {
        sentinel->expects_auth_reply = redis_login_queue_auth(
            sentinel->socket.context, &address->sentinel_login);
        redisAppendCommand(sentinel->socket.context,
                           "SENTINEL get-master-addr-by-name %s",
                           address->sentinel);
    }
    return error;
}

static const char *take(void *data, const redisReply *reply)
{
    redis_sentinel_t *sentinel = data;

    if (sentinel->expects_auth_reply && reply->type == REDIS_REPLY_STATUS) {
        sentinel->expects_auth_reply = false;
        return NULL;
    }
    sentinel->has_replied = true;
    return redis_words_read_master(reply, &sentinel->master);
}

/* Store the first error from a reply, or else the first error: a reply tells more than
 * a failed connection. */
static void note_refusal(redis_sentinel_t *sentinel,
                         const engine_address_t *address, const char *why)
{
    const redis_place_t *place = &address->places[sentinel->next];

    if (sentinel->refusals == 0 || !sentinel->has_reason) {
        snprintf(sentinel->why, sizeof(sentinel->why),
                 "no Sentinel reports the master '%.60s'; %s:%d: %s",
                 address->sentinel, place->host, place->port, why);
        sentinel->has_reason = sentinel->has_replied;
    }
    sentinel->refusals++;
}

/* Connect to the current Sentinel, or read from it. @return whether it has replied or failed;
 * @a error: why it failed, or NULL. */
static bool proceed(redis_sentinel_t *sentinel, const engine_address_t *address,
                    int64_t now, char room[REDIS_SOCKET_WHY],
                    const char **error)
{
    *error = sentinel->socket.context
                 ? redis_socket_transfer(&sentinel->socket, take, sentinel,
                                         room)
                 : start(sentinel, address, now);
    if (!*error && !sentinel->has_replied && now >= sentinel->deadline) {
        *error = "it does not answer in time";
    }
    return *error || sentinel->has_replied;
}

redis_sentinel_state_t redis_sentinel_ask(redis_sentinel_t *sentinel,
                                          const engine_address_t *address,
                                          int64_t now)
{
    char room[REDIS_SOCKET_WHY];
    const char *error;

    while (proceed(sentinel, address, now, room, &error)) {
        if (error) {
            note_refusal(sentinel, address, error);
        }
        redis_socket_close(&sentinel->socket);
        sentinel->next = (sentinel->next + 1) % address->count;
        if (!error || sentinel->refusals == address->count) {
            sentinel->refusals = 0;
            return error ? REDIS_SENTINEL_FAILED : REDIS_SENTINEL_FOUND;
        }
    }
    return REDIS_SENTINEL_ASKING;
}
