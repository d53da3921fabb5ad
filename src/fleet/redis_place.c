/* redis_place.c - numeric address and port of a Redis or a Sentinel.
 * Called by redis_words.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "redis_place.h"

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

bool redis_place_read(const char *host, const char *port, redis_place_t *place)
{
    if (!is_address(host) || !read_port(port, &place->port)) {
        return false;
    }
    snprintf(place->host, sizeof(place->host), "%s", host);
    snprintf(place->name, sizeof(place->name), "%s", host);
    return true;
}
