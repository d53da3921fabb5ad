/* redis_place.h - a host and a port, in numbers.
 * Included by all of the engine that connects or is told where to.
 */
#ifndef REDIS_PLACE_H
#define REDIS_PLACE_H

#include <stdbool.h>

#define REDIS_PLACE_HOST 46  /* an IPv6 address and its end */
#define REDIS_PLACE_NAME 256 /* a name of DNS and its end */

typedef struct redis_place_t {
    char host[REDIS_PLACE_HOST]; /* an address in numbers */
    int port;
    char name[REDIS_PLACE_NAME]; /* of its certificate */
} redis_place_t;

/** What somebody says is a place. It may be any text: names are not looked up.
 *  @return whether @a host is an address in numbers, and @a port one from 1 to 65535. */
bool redis_place_read(const char *host, const char *port, redis_place_t *place);

#endif
