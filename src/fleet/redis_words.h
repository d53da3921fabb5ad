/* redis_words.h - what is said to Redis, and what it says.
 * Called by redis_link and redis_sentinel, and by tests.
 *
 * Whatever comes from the engine is checked: a reply that is not one of these is
 * garbage, for which the connection is given up. None of this blocks.
 */
#ifndef REDIS_WORDS_H
#define REDIS_WORDS_H

#include <stddef.h>

#include <hiredis/hiredis.h>

#include "law_fleet.h"
#include "redis_place.h"

/** The script: the one operation. */
extern const char redis_words_script[];

/** A sync as a command of Redis.
 *
 * @param sha   of the script
 * @param key   of the zone
 * @param run   that the connection is to
 * @param self  who speaks
 * @return 0, or -1: there is no memory for it */
int redis_words_sync(redisContext *context, const char *sha, const char *key,
                     const char *run, const law_fleet_self_t *self,
                     const law_fleet_sync_t *sync);

/** The run of the engine, of what INFO says: written to @a run, of @a room characters.
 *  @return why it is of no use as an engine; NULL: it is of use. */
const char *redis_words_run(const redisReply *from, char *run, size_t room);

/** @return whether an error is of this key alone: its value is nothing that the script has
 *  written. */
bool redis_words_refused(const char *error);

/** What a Sentinel says of where a master is: written to @a place.
 *  @return why that is of no use; NULL: it is of use. */
const char *redis_words_master(const redisReply *from, redis_place_t *place);

/** @return whether this is an answer to a sync, which is then in @a reply and @a who. */
bool redis_words_reply(const redisReply *from, law_fleet_reply_t *reply,
                       law_fleet_who_t *who);

/** What is pushed: "key run gen granted target tight". @return whether it is that, of
 *  the run; @a key_length of its characters are the zone's key. */
bool redis_words_push(const char *text, const char *run, size_t *key_length,
                      law_fleet_push_t *push);

#endif
