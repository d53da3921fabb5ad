/* mod_admission_server_fields.c - every fact of the server as a whole, once. */
#include "config/mod_admission_zones.h"
#include "server/mod_admission_capacity.h"
#include "view/mod_admission_fields.h"

static apr_int64_t difference(uint32_t a, uint32_t b)
{
    return a > b ? (apr_int64_t)(a - b) : 0;
}

/* row(name, reason, kind, of, help, value of "server") */
/* clang-format off */
#define SERVER_FIELDS(row) \
    row(Zones, NULL, GAUGE, ANY, \
        "Zones of the configuration.", \
        admission_zones()->nelts) \
    row(Workers, NULL, GAUGE, ANY, \
        "Workers of the server.", \
        admission_capacity_workers()) \
    row(Reserve, NULL, GAUGE, ANY, \
        "Workers that zones may not occupy.", \
        admission_capacity_workers() - (int)server->worker_cap) \
    row(ReserveFree, NULL, GAUGE, ANY, \
        "Workers that zones may still occupy.", \
        difference(server->worker_cap, server->workers_held)) \
    row(Running, NULL, GAUGE, ANY, \
        "Workers that run requests of zones.", \
        difference(server->workers_held, server->workers_blocked)) \
    row(Blocked, NULL, GAUGE, ANY, \
        "Waiting requests that occupy a thread.", \
        server->blocked) \
    row(Parked, NULL, GAUGE, ANY, \
        "Requests that wait without a worker.", \
        server->parked) \
    row(Transfers, NULL, GAUGE, ANY, \
        "Requests whose body or response is transferred without a worker.", \
        server->transfers) \
    row(Spooled, NULL, GAUGE_BYTES, ANY, \
        "Bytes buffered for slow clients, in memory and in files.", \
        server->spooled) \
    row(Unlimited, NULL, COUNTER, ANY, \
        "Requests let through without a limit because of a fault.", \
        server->unlimited) \
    row(TicketsIgnored, NULL, COUNTER, ANY, \
        "Requests with an Admission-Ticket that was forged or has ended.", \
        server->tickets_ignored) \
    row(Agent, NULL, GAUGE, ANY, \
        "1 if admission-agent reclaims permits of dead children.", \
        server->has_agent) \
    row(MemoryAvailableMB, NULL, GAUGE_MB, ANY, \
        "Memory that programs may take without swapping; 0, not known.", \
        server->available_kb / 1024) \
    row(ChildrenRecycled, NULL, COUNTER, ANY, \
        "Children ended by AdmissionRecycle.", \
        server->recycled) \
    row(ChildrenAway, NULL, GAUGE, ANY, \
        "Recycled children not replaced yet.", \
        server->away) \
    row(ChildrenAwayMaxMs, NULL, GAUGE_MSEC, ANY, \
        "Longest time from the end of a recycled child to its replacement.", \
        server->away_max_usec / ADM_USEC_PER_MSEC) \
    row(EngineState, NULL, ENGINE, FLEET, \
        "State of the connection to the coordinator (Redis).", \
        server->engine.state) \
    row(EngineConnects, NULL, COUNTER, FLEET, \
        "Connections to the coordinator.", \
        server->engine.counts[ADM_ENGINE_CONNECT]) \
    row(EngineErrors, NULL, COUNTER, FLEET, \
        "Connections to the coordinator that ended or failed.", \
        server->engine.counts[ADM_ENGINE_ERROR]) \
    row(EngineSyncs, NULL, COUNTER, FLEET, \
        "Replies of the coordinator.", \
        server->engine.counts[ADM_ENGINE_SYNC]) \
    row(EnginePushes, NULL, COUNTER, FLEET, \
        "Messages of the coordinator that were not replies.", \
        server->engine.counts[ADM_ENGINE_PUSH]) \
    row(EngineLate, NULL, COUNTER, FLEET, \
        "Replies that report a late sync or a clock jump.", \
        server->engine.counts[ADM_ENGINE_LATE]) \
    row(EngineStale, NULL, COUNTER, FLEET, \
        "Replies that refuse a sync older than the last one.", \
        server->engine.counts[ADM_ENGINE_STALE]) \
    row(EngineRoundTripMeanUs, NULL, GAUGE_USEC, FLEET, \
        "Mean round trip to the coordinator.", \
        server->engine.mean_usec) \
    row(EngineRoundTripMaxUs, NULL, GAUGE_USEC, FLEET, \
        "Longest round trip to the coordinator.", \
        server->engine.max_usec)
/* clang-format on */

#define VALUE(name, reason, kind, of, help, value)                     \
    static apr_int64_t server_##name(const adm_server_stats_t *server) \
    {                                                                  \
        return (apr_int64_t)(value);                                   \
    }
SERVER_FIELDS(VALUE)

#define ROW(name, reason, kind, of, help, value)                      \
    { #name, reason,       help, ADMISSION_##kind, ADMISSION_OF_##of, \
      NULL,  server_##name },

const admission_field_t admission_server_fields[] = { SERVER_FIELDS(ROW) };

const int admission_server_fields_count = sizeof(admission_server_fields)
                                          / sizeof(*admission_server_fields);
