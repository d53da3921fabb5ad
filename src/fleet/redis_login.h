/* redis_login.h - who one is to Redis, or to a Sentinel.
 * Called by redis_address, and by redis_link and redis_sentinel to enter.
 */
#ifndef REDIS_LOGIN_H
#define REDIS_LOGIN_H

#include <stdbool.h>

#include <apr_pools.h>
#include <hiredis/hiredis.h>

typedef struct redis_login_t {
    const char *user;     /* NULL: none, as of Redis 5 */
    const char *password; /* NULL: nobody asks */
} redis_login_t;

/** Read an option that says a user or the file of a password: @a user_is and @a file_is
 *  are how these begin, up to their "=".
 *  @return whether it is one of them; then @a error is what is wrong, or NULL. */
bool redis_login_read(apr_pool_t *p, const char *option, const char *user_is,
                      const char *file_is, redis_login_t *login,
                      const char **error);

/** In a process that never asks: overwrite all passwords. */
void redis_login_forget(void);

/** Ask to enter, first of all. @return whether an answer comes to that. */
bool redis_login_ask(redisContext *context, const redis_login_t *login);

#endif
