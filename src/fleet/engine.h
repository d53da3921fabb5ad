/* engine.h - provider interface of an engine, which distributes limits across
 * servers. Included by fleet, and by each module that is an engine.
 *
 * The agent runs an engine. It has one thread and one poll loop, so no function
 * may block for longer than a system call. At most one sync per zone is on its
 * way. Times are microseconds of the clock of leases (adm_clock_since_boot()), unless
 * they end in _msec. docs/dev/fleet.md has the rules for engines.
 */
#ifndef ENGINE_H
#define ENGINE_H

#include <poll.h>

#include <apr_pools.h>

#include "law_fleet.h"

/** Group and version of these providers. The scheme of the URL is the name. */
#define ENGINE_PROVIDER_GROUP "admission-engine"
#define ENGINE_PROVIDER_VERSION "2"

/** A parsed URL with its options; only the engine reads it. */
typedef struct engine_address_t engine_address_t;

/** An open engine. */
typedef struct engine_t engine_t;

/** Callbacks of an engine. It calls them only from within work(). A process has one
 *  engine. */
typedef struct engine_callbacks_t {
    /** A zone can sync now. Earlier syncs get no reply any more.
     *  @param is_new_run   the engine is another one, or was restarted (R8)
     *  @param engine_msec  the engine's time, received at @a now */
    void (*joined)(uint32_t zone, bool is_new_run, int64_t engine_msec,
                   int64_t now);
    /** A zone cannot sync any more. */
    void (*parted)(uint32_t zone);
    /** Connected; the zones have joined before. @a is_other_run: the previous
     *  connection was to another run of the engine. */
    void (*connected)(bool is_other_run);
    /** Connection lost; the zones have parted before. Called again for each
     *  failed attempt to connect. @a why: for the log. */
    void (*lost)(const char *why);
    /** The engine rejects the syncs of one zone, which has parted; the connection
     *  remains. Called again for each rejected sync. @a why: for the log. */
    void (*refused)(uint32_t zone, const char *why);
    /** Reply to a zone's sync. */
    void (*replied)(uint32_t zone, const law_fleet_reply_t *reply,
                    const law_fleet_who_t *who, int64_t now);
    /** Push: a message of the connected run that is not a reply. */
    void (*pushed)(uint32_t zone, const law_fleet_push_t *push, int64_t now);
} engine_callbacks_t;

/** Argument of open(). Must not change or move while the engine is open. */
typedef struct engine_setup_t {
    const engine_address_t *address;
    law_fleet_self_t self;
    const char *const *zones; /* names; the index is the zone's number here */
    uint32_t count;
    engine_callbacks_t callbacks;
} engine_setup_t;

/** Maximum number of descriptors that prepare_poll() returns. */
#define ENGINE_DESCRIPTORS 2

typedef struct engine_provider_t {
    /** Parse the arguments of AdmissionEngine: the URL, then @a count options.
     *  Called in the parent, also for configtest; may block for DNS.
     *  @return an error without the directive's name, or NULL. */
    const char *(*parse)(apr_pool_t *p, const char *url, char *const options[],
                         int count, const engine_address_t **address);
    /** @return the address for the log, without secrets. */
    const char *(*shown)(const engine_address_t *address);
    /** Called in the agent. The first work() connects. */
    engine_t *(*open)(apr_pool_t *p, const engine_setup_t *setup);
    /** Fill @a descriptors for poll().
     *  @param wake_at  set to the latest time for the next work()
     *  @return the number of descriptors, at most ENGINE_DESCRIPTORS. */
    unsigned (*prepare_poll)(engine_t *engine, struct pollfd *descriptors,
                             int64_t *wake_at);
    /** Connect, read, write and check timeouts. Called after each poll(). */
    void (*work)(engine_t *engine, int64_t now);
    /** Send a zone's sync. @return false if it cannot be sent. */
    bool (*sync)(engine_t *engine, uint32_t zone, const law_fleet_sync_t *sync);
    /** Write the queued syncs as far as that does not block, and close. */
    void (*close)(engine_t *engine);
} engine_provider_t;

#endif
