/* redis_link.h - an engine that is a Redis: connects, logs in, sends syncs, receives
 * pushes. Called by mod_admission_redis.
 *
 * Two connections, because a connection that subscribes to pushes takes no other
 * commands. The functions never block. A timeout, an invalid or an oversized reply
 * closes both connections; the engine reconnects after a pause that grows to 1 s. The
 * functions implement engine_provider_t. Times are microseconds of the clock of leases
 * (adm_clock_since_boot()).
 */
#ifndef REDIS_LINK_H
#define REDIS_LINK_H

#include "engine.h"

/** Allocate a connection; the first redis_link_work() connects. */
engine_t *redis_link_open(apr_pool_t *p, const engine_setup_t *setup);

/** Fill up to ENGINE_DESCRIPTORS @a descriptors for poll(), and set @a wake_at to the
 *  latest time for the next redis_link_work(). @return the number of descriptors. */
unsigned redis_link_prepare_poll(engine_t *engine, struct pollfd *descriptors,
                                 int64_t *wake_at);

/** Connect, read, write and check timeouts. Call after each poll(). */
void redis_link_work(engine_t *engine, int64_t now);

/** Queue a zone's sync. @return false if it cannot be sent now. */
bool redis_link_sync(engine_t *engine, uint32_t zone,
                     const law_fleet_sync_t *sync);

/** Write the queued syncs as far as that does not block, and disconnect. */
void redis_link_close(engine_t *engine);

#endif
