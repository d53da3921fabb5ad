/* redis_words.h - the commands sent to Redis, and the replies parsed.
 * Called by redis_link and redis_sentinel, and by tests.
 *
 * The parsers accept only valid values, because any program can write to Redis; after
 * an invalid reply the caller closes the connection. Nothing here blocks.
 */
#ifndef REDIS_WORDS_H
#define REDIS_WORDS_H

#include <stdbool.h>
#include <stddef.h>

#include <hiredis/hiredis.h>

#include "law_fleet.h"

#define REDIS_PLACE_HOST 46  /* size of an IPv6 address with its NUL */
#define REDIS_PLACE_NAME 256 /* size of a DNS name with its NUL */

/** Numeric address and port of a Redis or a Sentinel. */
typedef struct redis_place_t {
    char host[REDIS_PLACE_HOST]; /* numeric address */
    int port;
    char name[REDIS_PLACE_NAME]; /* expected in the certificate */
} redis_place_t;

/** The script share.lua, which executes a sync. */
extern const char redis_words_script[];

/** Queue a sync.
 *
 * @param sha   of the script
 * @param key   of the zone
 * @param run   of the connected engine
 * @param self  identity of this server
 * @return 0, or -1 if out of memory */
int redis_words_queue_sync(redisContext *context, const char *sha,
                           const char *key, const char *run,
                           const law_fleet_self_t *self,
                           const law_fleet_sync_t *sync);

/** Read the run from the reply to INFO. @a run has @a room bytes.
 *  @return why the peer cannot be an engine, or NULL. */
const char *redis_words_read_run(const redisReply *from, char *run,
                                 size_t room);

/** @return whether an error concerns one key alone, because another program wrote its
 *  value; the connection can remain. */
bool redis_words_is_key_error(const char *error);

/** Read the master's address from a Sentinel's reply, which can contain any text.
 *  @return an error, or NULL with @a place set: a numeric address, and a port. */
const char *redis_words_read_master(const redisReply *from,
                                    redis_place_t *place);

/** Read the reply to a sync. @return whether it is valid; then @a reply and @a who are
 *  set. */
bool redis_words_read_reply(const redisReply *from, law_fleet_reply_t *reply,
                            law_fleet_who_t *who);

/** Read a push: "key run gen granted target tight". @a key_length is set to the length
 *  of the zone's key. @return whether it is valid and of this run. */
bool redis_words_read_push(const char *text, const char *run,
                           size_t *key_length, law_fleet_push_t *push);

#endif
