/* redis_login.h - login to Redis or to a Sentinel.
 * Options are read by redis_address; redis_link and redis_sentinel log in.
 */
#ifndef REDIS_LOGIN_H
#define REDIS_LOGIN_H

#include <stdbool.h>

#include <apr_pools.h>
#include <hiredis/hiredis.h>

typedef struct redis_login_t {
    const char *user;     /* NULL: AUTH without a user, as in Redis 5 */
    const char *password; /* NULL: no login */
} redis_login_t;

/** Read an option with a user, or with the path of a password file, which is read.
 *  @param user_is, file_is  names of these options, with "="
 *  @param error  set to an error, or to NULL
 *  @return whether @a option is one of them. */
bool redis_login_read(apr_pool_t *p, const char *option, const char *user_is,
                      const char *file_is, redis_login_t *login,
                      const char **error);

/** @return a path of the configuration, relative to ServerRoot unless it is
 *  absolute. */
const char *redis_login_path(apr_pool_t *p, const char *path);

/** Overwrite all passwords in this process, which cannot connect any more. For
 *  children, which run code of other modules and never connect. The parent keeps
 *  the passwords for the agents that it forks. */
void redis_login_erase(void);

/** Queue AUTH; must be the first command of a connection.
 *  @return whether a reply to it will come. */
bool redis_login_queue_auth(redisContext *context, const redis_login_t *login);

#endif
