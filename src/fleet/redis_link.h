/* redis_link.h - Redis as an engine: entered, asked with syncs, heard with pushes.
 * Called by mod_admission_redis.
 *
 * Two connections: one for syncs, one for pushes. They never block; whatever takes longer
 * than the timeout, is garbage or too large ends both, and they begin again after a pause.
 * The functions are as engine_provider_t has them.
 */
#ifndef REDIS_LINK_H
#define REDIS_LINK_H

#include "engine.h"

engine_t *redis_link_open(apr_pool_t *p, const engine_setup_t *setup);

unsigned redis_link_wait_for(engine_t *engine, struct pollfd *descriptors,
                             int64_t *wake_at);

void redis_link_work(engine_t *engine, int64_t now);

bool redis_link_sync(engine_t *engine, uint32_t zone,
                     const law_fleet_sync_t *sync);

void redis_link_close(engine_t *engine);

#endif
