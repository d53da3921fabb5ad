/* redis_place.h - numeric address and port of a Redis or a Sentinel.
 */
#ifndef REDIS_PLACE_H
#define REDIS_PLACE_H

#include <stdbool.h>

#define REDIS_PLACE_HOST 46  /* size of an IPv6 address with its NUL */
#define REDIS_PLACE_NAME 256 /* size of a DNS name with its NUL */

typedef struct redis_place_t {
    char host[REDIS_PLACE_HOST]; /* numeric address */
    int port;
    char name[REDIS_PLACE_NAME]; /* expected in the certificate */
} redis_place_t;

/** Read a place from a Sentinel's reply, which can contain any text. Never blocks:
 *  names are not looked up.
 *  @return false unless @a host is a numeric address and @a port is 1 to 65535. */
bool redis_place_read(const char *host, const char *port, redis_place_t *place);

#endif
