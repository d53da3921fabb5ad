/* mod_admission_server_fields.c - every fact of the server as a whole, once. */
#include "config/mod_admission_zones.h"
#include "server/mod_admission_capacity.h"
#include "view/mod_admission_fields.h"

#define OF_SERVER(name, expression)                           \
    static apr_int64_t name(const adm_server_stats_t *server) \
    {                                                         \
        (void)server;                                         \
        return (apr_int64_t)(expression);                     \
    }

static apr_int64_t difference(uint32_t a, uint32_t b)
{
    return a > b ? (apr_int64_t)(a - b) : 0;
}

OF_SERVER(zones, admission_zones()->nelts)

OF_SERVER(workers, admission_capacity_workers())

OF_SERVER(reserve, admission_capacity_workers() - (int)server->worker_cap)

OF_SERVER(reserve_free, difference(server->worker_cap, server->workers_held))

OF_SERVER(running, difference(server->workers_held, server->workers_blocked))

OF_SERVER(blocked, server->blocked)

OF_SERVER(parked, server->parked)

OF_SERVER(transfers, server->transfers)

OF_SERVER(spooled, server->spooled)

OF_SERVER(unlimited, server->unlimited)

OF_SERVER(agent, server->has_agent)

OF_SERVER(available_mb, server->available_kb / 1024)

OF_SERVER(recycled, server->recycled)

OF_SERVER(away, server->away)

OF_SERVER(away_max, server->away_max_usec / ADM_USEC_PER_MSEC)

OF_SERVER(engine_state, server->engine.state)

OF_SERVER(engine_connects, server->engine.connects)

OF_SERVER(engine_errors, server->engine.errors)

OF_SERVER(engine_syncs, server->engine.syncs)

OF_SERVER(engine_pushes, server->engine.pushes)

OF_SERVER(engine_late, server->engine.late)

OF_SERVER(engine_stale, server->engine.stale)

OF_SERVER(engine_mean, server->engine.mean_usec)

OF_SERVER(engine_max, server->engine.max_usec)

#define GAUGE ADMISSION_GAUGE
#define MICROS ADMISSION_GAUGE_USEC
#define ENGINE ADMISSION_ENGINE
#define MILLIS ADMISSION_GAUGE_MSEC
#define MEGABYTES ADMISSION_GAUGE_MB
#define COUNTER ADMISSION_COUNTER
#define OF_ANY ADMISSION_OF_ANY
#define OF_FLEET ADMISSION_OF_FLEET

const admission_field_t admission_server_fields[] = {
    { "Zones", "Zones", "zones", "zones", NULL, "Zones of the configuration.",
      GAUGE, NULL, zones, OF_ANY },
    { "Workers", "Workers", "workers", "workers", NULL,
      "Requests that the server can run at once.", GAUGE, NULL, workers,
      OF_ANY },
    { "Reserve", "reserved", "reserve", "reserve", NULL,
      "Workers that zones may not occupy.", GAUGE, NULL, reserve, OF_ANY },
    { "ReserveFree", "free for zones", "reserveFree", "reserve_free", NULL,
      "Workers that zones may still occupy.", GAUGE, NULL, reserve_free,
      OF_ANY },
    { "Running", "running", "running", "running", NULL,
      "Workers that run requests of zones.", GAUGE, NULL, running, OF_ANY },
    { "Blocked", "blocked", "blocked", "blocked", NULL,
      "Waiting requests that hold a thread.", GAUGE, NULL, blocked, OF_ANY },
    { "Parked", "Parked", "parked", "parked", NULL,
      "Requests that wait without a worker.", GAUGE, NULL, parked, OF_ANY },
    { "Transfers", "Transfers", "transfers", "transfers", NULL,
      "Requests whose body or answer is transferred without a worker.", GAUGE,
      NULL, transfers, OF_ANY },
    { "Spooled", "Spooled bytes", "spooled", "spooled_bytes", NULL,
      "Bytes kept for slow clients, in memory and in files.", GAUGE, NULL,
      spooled, OF_ANY },
    { "Unlimited", "Unlimited", "unlimited", "unlimited", NULL,
      "Requests let through without a limit because of a fault.", COUNTER, NULL,
      unlimited, OF_ANY },
    { "Agent", "Agent at work", "agent", "agent", NULL,
      "Whether the agent takes back what the dead held.", GAUGE, NULL, agent,
      OF_ANY },
    { "MemoryAvailableMB", "Memory available MB", "memoryAvailableMB",
      "memory_available", NULL,
      "Memory that programs may take without swapping; 0, not known.",
      MEGABYTES, NULL, available_mb, OF_ANY },
    { "ChildrenRecycled", "Children recycled", "childrenRecycled",
      "children_recycled", NULL, "Children ended by AdmissionRecycle.", COUNTER,
      NULL, recycled, OF_ANY },
    { "ChildrenAway", "away", "childrenAway", "children_away", NULL,
      "Recycled children not replaced yet.", GAUGE, NULL, away, OF_ANY },
    { "ChildrenAwayMaxMs", "longest ms", "childrenAwayMaxMs",
      "children_away_max", NULL,
      "Longest time from the end of a recycled child to its replacement.",
      MILLIS, NULL, away_max, OF_ANY },
    { "EngineState", "Engine", "engineState", "engine_state", NULL,
      "Whether there is a connection with the engine of limits over servers.",
      ENGINE, NULL, engine_state, OF_FLEET },
    { "EngineConnects", "connects", "engineConnects", "engine_connects", NULL,
      "Connections with the engine that were made.", COUNTER, NULL,
      engine_connects, OF_FLEET },
    { "EngineErrors", "errors", "engineErrors", "engine_errors", NULL,
      "Connections with the engine that ended or failed.", COUNTER, NULL,
      engine_errors, OF_FLEET },
    { "EngineSyncs", "syncs", "engineSyncs", "engine_syncs", NULL,
      "Answers of the engine.", COUNTER, NULL, engine_syncs, OF_FLEET },
    { "EnginePushes", "pushes", "enginePushes", "engine_pushes", NULL,
      "Messages of the engine that were no answers.", COUNTER, NULL,
      engine_pushes, OF_FLEET },
    { "EngineLate", "late", "engineLate", "engine_late", NULL,
      "Answers that report a late sync or a clock that has jumped.", COUNTER,
      NULL, engine_late, OF_FLEET },
    { "EngineStale", "stale", "engineStale", "engine_stale", NULL,
      "Answers that refuse a sync older than the last one.", COUNTER, NULL,
      engine_stale, OF_FLEET },
    { "EngineRoundTripMeanUs", "round trip us", "engineRoundTripMeanUs",
      "engine_round_trip_mean", NULL, "Mean time until the engine answered.",
      MICROS, NULL, engine_mean, OF_FLEET },
    { "EngineRoundTripMaxUs", "longest us", "engineRoundTripMaxUs",
      "engine_round_trip_max", NULL, "Longest time until the engine answered.",
      MICROS, NULL, engine_max, OF_FLEET }
};

const int admission_server_fields_count = sizeof(admission_server_fields)
                                          / sizeof(*admission_server_fields);
