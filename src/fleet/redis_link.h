/* redis_link.h - an engine that is a Redis: connects, logs in, sends syncs, receives
 * pushes. Called by mod_admission_redis.
 *
 * Two connections, because a connection that subscribes to pushes takes no other
 * commands. The functions never block. A timeout, an invalid or an oversized reply
 * closes both connections; the engine reconnects after a pause that grows to 1 s. The
 * contracts of the functions are in engine_provider_t.
 */
#ifndef REDIS_LINK_H
#define REDIS_LINK_H

#include "engine.h"

engine_t *redis_link_open(apr_pool_t *p, const engine_setup_t *setup);

unsigned redis_link_prepare_poll(engine_t *engine, struct pollfd *descriptors,
                                 int64_t *wake_at);

void redis_link_work(engine_t *engine, int64_t now);

bool redis_link_sync(engine_t *engine, uint32_t zone,
                     const law_fleet_sync_t *sync);

void redis_link_close(engine_t *engine);

#endif
