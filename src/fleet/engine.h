/* engine.h - what shares a limit out over many servers, as a provider of httpd.
 * Included by src/agent and src/httpd, and by each module that is an engine.
 *
 * An engine is opened in the agent, which has one thread and one poll loop: nothing
 * here blocks for longer than a system call. One sync of a zone is on its way at a
 * time. docs/dev/fleet.md says what an engine has to do.
 */
#ifndef ENGINE_H
#define ENGINE_H

#include <poll.h>

#include <apr_pools.h>

#include "law_fleet.h"

/** Group and version of such providers; the name is the scheme of the URL. */
#define ENGINE_PROVIDER_GROUP "admission-engine"
#define ENGINE_PROVIDER_VERSION "1"

/** What a URL and its options say, known to the engine alone. */
typedef struct engine_address_t engine_address_t;

/** An open engine. */
typedef struct engine_t engine_t;

/** What an engine says, always from within work(). */
typedef struct engine_ears_t {
    void *data;
    /** There is a connection for a zone; nothing that was sent before is answered any
     *  more. @a engine_msec is the engine's time, @a now when it was. */
    void (*joined)(void *data, uint32_t zone, bool is_new_run,
                   int64_t engine_msec, int64_t now);
    /** There is none for this zone. */
    void (*parted)(void *data, uint32_t zone);
    /** A connection was made, for zones that have just joined: @a is_other_run if what
     *  they knew was of another one. */
    void (*connected)(void *data, bool is_other_run);
    /** One is lost, of zones that have just parted; @a why, for the log. Told again for
     *  each attempt that fails. */
    void (*lost)(void *data, const char *why);
    /** A zone has parted alone: the engine does not take its syncs, and the connection
     *  goes on. @a why, for the log. Told again for each attempt. */
    void (*refused)(void *data, uint32_t zone, const char *why);
    /** The answer to a zone's sync. */
    void (*replied)(void *data, uint32_t zone, const law_fleet_reply_t *reply,
                    const law_fleet_who_t *who, int64_t now);
    /** Something unasked, of the run that the connection is to. */
    void (*pushed)(void *data, uint32_t zone, const law_fleet_push_t *push,
                   int64_t now);
} engine_ears_t;

/** What an engine is opened with; stays as it is. */
typedef struct engine_setup_t {
    const engine_address_t *address;
    law_fleet_self_t self;
    const char *const *zones; /* their names */
    uint32_t count;
    engine_ears_t ears;
} engine_setup_t;

/** Descriptors that an engine waits for, at most. */
#define ENGINE_DESCRIPTORS 2

typedef struct engine_provider_t {
    /** Read what AdmissionEngine says: the URL, then options. In the parent, also for
     *  configtest; looks names up. @return an error without the directive's name, or
     *  NULL. */
    const char *(*parse)(apr_pool_t *p, const char *url, char *const options[],
                         int count, const engine_address_t **address);
    /** @return the address as it may be shown: without any secret. */
    const char *(*shown)(const engine_address_t *address);
    /** In the agent. Connects in the first work(). */
    engine_t *(*open)(apr_pool_t *p, const engine_setup_t *setup);
    /** What to wait for. @return how many descriptors; @a wake_at is when work() has
     *  to be called at the latest. */
    unsigned (*wait_for)(engine_t *engine, struct pollfd *descriptors,
                         int64_t *wake_at);
    /** Read, write, connect, give up. After each wait. */
    void (*work)(engine_t *engine, int64_t now);
    /** Send a zone's sync. @return whether there is a connection for it. */
    bool (*sync)(engine_t *engine, uint32_t zone, const law_fleet_sync_t *sync);
    /** Send what is left, briefly, and close. */
    void (*close)(engine_t *engine);
} engine_provider_t;

#endif
