/* redis_words.c - the commands sent to Redis, and the replies parsed. */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <apr_time.h>

#include "redis_words.h"

const char redis_words_script[] =
#include "fleet/share_lua.inc"
    ;

/* ---- commands ------------------------------------------------------------- */

#define NUMBERS 13
#define NUMBER_ROOM 24
#define WORDS (8 + NUMBERS)

int redis_words_queue_sync(redisContext *context, const char *sha,
                           const char *key, const char *run,
                           const law_fleet_self_t *self,
                           const law_fleet_sync_t *sync)
{
    const int64_t numbers[NUMBERS] = { (int64_t)sync->sequence,
                                       sync->gen_seen,
                                       sync->has,
                                       sync->want,
                                       sync->oldest_msec,
                                       sync->terms.limit,
                                       sync->terms.lease_usec / 1000,
                                       sync->terms.hold_usec / 1000,
                                       sync->engine_msec,
                                       sync->age_msec,
                                       sync->span_msec,
                                       sync->leaves,
                                       sync->asks_who };
    const char *words[WORDS] = {
        "EVALSHA", sha, "1", key, self->id, self->name, self->predecessor, run
    };
    char texts[NUMBERS][NUMBER_ROOM];
    unsigned n;

    for (n = 0; n < NUMBERS; n++) {
        snprintf(texts[n], NUMBER_ROOM, "%" PRId64, numbers[n]);
        words[WORDS - NUMBERS + n] = texts[n];
    }
    return redisAppendCommandArgv(context, WORDS, words, NULL) == REDIS_OK ? 0
                                                                           : -1;
}

/* ---- replies -------------------------------------------------------------- */

const char *redis_words_read_run(const redisReply *from, char *run, size_t room)
{
    static const char label[] = "run_id:";
    const char *text = from->type == REDIS_REPLY_STRING ? from->str : "";
    const char *at = strstr(text, label);
    size_t length = 0;

    if (at) {
        at += sizeof(label) - 1;
        length = strspn(at, "0123456789abcdef");
    }
    if (length < 8 || length >= room) {
        return "it is not Redis or Valkey";
    }
    /* The field is redis_mode in Redis, and server_mode in Valkey. */
    if (strstr(text, "_mode:sentinel")) {
        return "it is a Sentinel, and sentinel=name is not set";
    }
    if (strstr(text, "_mode:cluster")) {
        return "it is a node of a Cluster, which is not supported: use one Redis, "
               "or Sentinels with sentinel=name";
    }
    memcpy(run, at, length);
    run[length] = '\0';
    return NULL;
}

bool redis_words_is_key_error(const char *error)
{
    return strncmp(error, "ERR user_script:", 16) == 0
           || strstr(error, "WRONGTYPE") != NULL;
}

static bool is_address(const char *text)
{
    struct in6_addr ignored; /* large enough for both families */

    return strlen(text) < REDIS_PLACE_HOST
           && (inet_pton(AF_INET, text, &ignored) == 1
               || inet_pton(AF_INET6, text, &ignored) == 1);
}

static bool read_port(const char *text, int *port)
{
    size_t length = strspn(text, "0123456789");

    if (length < 1 || length > 5 || text[length] != '\0') {
        return false;
    }
    *port = (int)strtol(text, NULL, 10);
    return *port >= 1 && *port <= 65535;
}

/* Never blocks: names are not looked up. */
static bool read_place(const char *host, const char *port, redis_place_t *place)
{
    if (!is_address(host) || !read_port(port, &place->port)) {
        return false;
    }
    snprintf(place->host, sizeof(place->host), "%s", host);
    snprintf(place->name, sizeof(place->name), "%s", host);
    return true;
}

const char *redis_words_read_master(const redisReply *from,
                                    redis_place_t *place)
{
    if (from->type == REDIS_REPLY_ERROR) {
        return from->str;
    }
    if (from->type == REDIS_REPLY_NIL) {
        return "it has no master with this name";
    }
    if (from->type != REDIS_REPLY_ARRAY || from->elements != 2
        || from->element[0]->type != REDIS_REPLY_STRING
        || from->element[1]->type != REDIS_REPLY_STRING) {
        return "it sent an unexpected reply";
    }
    return read_place(from->element[0]->str, from->element[1]->str, place)
               ? NULL
               : "it does not report the master as a numeric address and a port";
}

/* Indexes of the numbers that follow the first word of a reply. */
enum {
    TIME,
    GEN,
    GRANTED,
    TARGET,
    SERVERS,
    RESERVED,
    WANTED,
    LEARNING,
    LIMIT,
    TIGHT,
    SHORT,
    SPAN,
    OK_NUMBERS
};

/* Fields of each server in the list that follows the numbers. */
enum { WHO_NAME, WHO_GRANTED, WHO_TARGET, WHO_WANTED, WHO_SILENT, WHO_WORDS };

/* Far above any sum of permits, and safe to convert to uint32_t. */
static bool is_count(int64_t number)
{
    return number >= 0 && number <= INT32_MAX;
}

/* Times in milliseconds, and generations, which start at such a time. The agent
 * adds times, and converts them to microseconds. */
#define MSEC_MAX (INT64_MAX / APR_USEC_PER_SEC)

static bool is_msec(int64_t number)
{
    return number >= 0 && number <= MSEC_MAX;
}

static bool read_ok(const int64_t numbers[OK_NUMBERS], law_fleet_reply_t *reply)
{
    unsigned n;

    for (n = GRANTED; n < OK_NUMBERS; n++) {
        if (!is_count(numbers[n])) {
            return false;
        }
    }
    if (!is_msec(numbers[GEN]) || numbers[TARGET] > numbers[GRANTED]) {
        return false;
    }
    reply->status = LAW_FLEET_OK;
    reply->gen = numbers[GEN];
    reply->granted = (uint32_t)numbers[GRANTED];
    reply->target = (uint32_t)numbers[TARGET];
    reply->servers = (uint32_t)numbers[SERVERS];
    reply->reserved = (uint32_t)numbers[RESERVED];
    reply->wanted = (uint32_t)numbers[WANTED];
    reply->learning_msec = numbers[LEARNING];
    reply->limit = (uint32_t)numbers[LIMIT];
    reply->is_tight = numbers[TIGHT] != 0;
    reply->is_short = numbers[SHORT] != 0;
    reply->span_msec = numbers[SPAN];
    return true;
}

/* Replace unprintable characters, and truncate: any program can write the name. */
static void copy_name(const redisReply *from, char name[LAW_FLEET_NAME])
{
    size_t n;

    for (n = 0; n < from->len && n < LAW_FLEET_NAME - 1; n++) {
        name[n] = from->str[n] > ' ' && from->str[n] <= '~' ? from->str[n]
                                                            : '?';
    }
    name[n] = '\0';
}

static bool read_server(redisReply *const words[WHO_WORDS],
                        law_fleet_server_t *server)
{
    unsigned n;

    if (words[WHO_NAME]->type != REDIS_REPLY_STRING) {
        return false;
    }
    for (n = WHO_GRANTED; n < WHO_WORDS; n++) {
        if (words[n]->type != REDIS_REPLY_INTEGER
            || !is_count(words[n]->integer)) {
            return false;
        }
    }
    copy_name(words[WHO_NAME], server->name);
    server->granted = (uint32_t)words[WHO_GRANTED]->integer;
    server->target = (uint32_t)words[WHO_TARGET]->integer;
    server->wanted = (uint32_t)words[WHO_WANTED]->integer;
    server->silent_msec = (uint32_t)words[WHO_SILENT]->integer;
    return true;
}

static bool read_who(const redisReply *from, law_fleet_who_t *who)
{
    size_t count = from->elements / WHO_WORDS;

    if (from->type != REDIS_REPLY_ARRAY || from->elements % WHO_WORDS
        || count > LAW_FLEET_SERVERS) {
        return false;
    }
    for (who->count = 0; who->count < count; who->count++) {
        if (!read_server(from->element + (size_t)who->count * WHO_WORDS,
                         &who->servers[who->count])) {
            return false;
        }
    }
    return true;
}

bool redis_words_read_reply(const redisReply *from, law_fleet_reply_t *reply,
                            law_fleet_who_t *who)
{
    int64_t numbers[OK_NUMBERS] = { 0 };
    const char *word;
    size_t n, count;

    *reply = (law_fleet_reply_t){ .status = LAW_FLEET_LATE };
    who->count = 0;
    if (from->type != REDIS_REPLY_ARRAY || from->elements < 2
        || from->elements > OK_NUMBERS + 2
        || from->element[0]->type != REDIS_REPLY_STRING) {
        return false;
    }
    count = from->elements <= OK_NUMBERS ? from->elements : OK_NUMBERS + 1;
    for (n = 1; n < count; n++) {
        if (from->element[n]->type != REDIS_REPLY_INTEGER) {
            return false;
        }
        numbers[n - 1] = from->element[n]->integer;
    }
    if (!is_msec(numbers[TIME])) {
        return false;
    }
    reply->engine_msec = numbers[TIME];
    word = from->element[0]->str;
    if (strcmp(word, "ok") == 0) {
        return count == OK_NUMBERS + 1 && read_ok(numbers, reply)
               && (from->elements == count
                   || read_who(from->element[count], who));
    }
    if (strcmp(word, "stale") == 0) {
        reply->status = LAW_FLEET_STALE;
        reply->sequence = (uint64_t)numbers[1];
        return from->elements == 3 && numbers[1] >= 0;
    }
    if (strcmp(word, "bye") == 0) {
        reply->status = LAW_FLEET_BYE;
        return true;
    }
    return strcmp(word, "late") == 0;
}

static bool take_number(const char **text, int64_t *number)
{
    char *rest;

    errno = 0;
    if (**text != ' ' || (*text)[1] < '0' || (*text)[1] > '9') {
        return false;
    }
    *number = strtoll(*text + 1, &rest, 10);
    *text = rest;
    return errno == 0;
}

bool redis_words_read_push(const char *text, const char *run,
                           size_t *key_length, law_fleet_push_t *push)
{
    size_t run_length = strlen(run);
    const char *at = strrchr(text, '}');
    int64_t gen, granted, target, tight;

    if (!at || at[1] != ' ' || strncmp(at + 2, run, run_length) != 0) {
        return false;
    }
    *key_length = (size_t)(at + 1 - text);
    at += 2 + run_length;
    if (!take_number(&at, &gen) || !take_number(&at, &granted)
        || !take_number(&at, &target) || !take_number(&at, &tight)
        || *at != '\0' || !is_msec(gen) || !is_count(granted)
        || !is_count(target) || target > granted) {
        return false;
    }
    *push = (law_fleet_push_t){ .gen = gen,
                                .granted = (uint32_t)granted,
                                .target = (uint32_t)target,
                                .is_tight = tight != 0 };
    return true;
}
