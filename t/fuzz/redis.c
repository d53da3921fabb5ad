/* redis.c - fuzz target: what an engine, or a server in its place, sends.
 *
 * The input is a stream of replies as hiredis reads them, each of which is taken for every
 * kind of reply. An accepted one has numbers and texts within what the agent and the shared
 * memory have room for.
 */
#include <string.h>

#include "fleet/redis_words.h"
#include "fuzz.h"

#define RUN "0123456789abcdef0123456789abcdef01234567"
#define MOST_REPLIES 100

static bool is_count(uint32_t number)
{
    return number <= INT32_MAX;
}

static void check_server(const law_fleet_server_t *server)
{
    const char *c;

    MUST(memchr(server->name, '\0', LAW_FLEET_NAME) != NULL);
    for (c = server->name; *c; c++) {
        MUST(*c > ' ' && *c <= '~');
    }
    MUST(is_count(server->granted) && is_count(server->target) && is_count(server->wanted)
         && is_count(server->silent_msec));
}

static void check_sync(const redisReply *from)
{
    law_fleet_reply_t reply;
    law_fleet_who_t who;
    uint32_t n;

    if (!redis_words_read_reply(from, &reply, &who)) {
        return;
    }
    MUST(reply.engine_msec >= 0 && reply.engine_msec <= INT64_MAX / 1000000);
    MUST(who.count <= LAW_FLEET_SERVERS);
    for (n = 0; n < who.count; n++) {
        check_server(&who.servers[n]);
    }
    if (reply.status == LAW_FLEET_OK) {
        MUST(reply.target <= reply.granted && is_count(reply.granted));
        MUST(reply.gen >= 0 && reply.learning_msec >= 0);
        MUST(is_count(reply.limit) && is_count(reply.servers) && is_count(reply.reserved)
             && is_count(reply.wanted));
    }
}

static void check_master(const redisReply *from)
{
    redis_place_t place;

    if (redis_words_read_master(from, &place) == NULL) {
        MUST(place.port >= 1 && place.port <= 65535);
        MUST(memchr(place.host, '\0', REDIS_PLACE_HOST) != NULL);
        MUST(strspn(place.host, "0123456789abcdefABCDEF.:%") > 0);
    }
}

static void check_run(const redisReply *from)
{
    char run[41];

    if (redis_words_read_run(from, run, sizeof(run)) == NULL) {
        MUST(strlen(run) >= 8 && strspn(run, "0123456789abcdef") == strlen(run));
    }
}

static void check_push(const char *text)
{
    law_fleet_push_t push;
    size_t length;

    if (redis_words_read_push(text, RUN, &length, &push)) {
        MUST(length > 0 && length < strlen(text) && text[length - 1] == '}');
        MUST(push.target <= push.granted && is_count(push.granted) && push.gen >= 0);
    }
}

static void check(const redisReply *from)
{
    check_sync(from);
    check_master(from);
    check_run(from);
    if (from->type == REDIS_REPLY_STRING) {
        check_push(from->str);
    }
    if (from->type == REDIS_REPLY_ERROR) {
        redis_words_is_key_error(from->str);
    }
}

#if HIREDIS_MAJOR >= 1
typedef size_t parts_t;
#else
typedef int parts_t;
#endif

static void *(*create_array)(const redisReadTask *task, parts_t count);

/* As redis_socket.c limits it: hiredis allocates as much as the head of an array states. */
static void *create_small_array(const redisReadTask *task, parts_t count)
{
    return count <= 256 ? create_array(task, count) : NULL;
}

void fuzz_redis(const uint8_t *data, size_t size)
{
    redisReader *reader = redisReaderCreate();
    redisReplyObjectFunctions functions;
    void *reply = NULL;
    int n;

    MUST(reader != NULL);
    functions = *reader->fn;
    create_array = functions.createArray;
    functions.createArray = create_small_array;
    reader->fn = &functions;
    MUST(size == 0 || redisReaderFeed(reader, (const char *)data, size) == REDIS_OK);
    for (n = 0; n < MOST_REPLIES; n++) {
        if (redisReaderGetReply(reader, &reply) != REDIS_OK || !reply) {
            break;
        }
        check(reply);
        freeReplyObject(reply);
    }
    redisReaderFree(reader);
}
