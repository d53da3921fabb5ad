/* redis_link.h - an engine that is a Redis: connects, logs in, sends syncs, receives
 * pushes. Called by mod_admission_redis.
 *
 * Two connections, because a connection that subscribes to pushes takes no other
 * commands. A timeout, an invalid or an oversized reply closes both connections; the
 * engine reconnects after a pause that grows to 1 s.
 */
#ifndef REDIS_LINK_H
#define REDIS_LINK_H

#include "engine.h"

extern const engine_provider_t redis_link_provider;

#endif
