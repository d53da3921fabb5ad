/* view_server_fields.c - all facts about the server as a whole, once each. */
#include "module/part.h"
#include "module/zones.h"
#include "module/capacity.h"
#include "view_fields.h"

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
        server->available_kb / 1024)
/* clang-format on */

SERVER_FIELDS(ADMISSION_SERVER_VALUE)

static const admission_field_t own_fields[] = { SERVER_FIELDS(
    ADMISSION_SERVER_ROW) };

#define OWN_COUNT ((int)(sizeof(own_fields) / sizeof(*own_fields)))

const admission_field_t *admission_fields_of_server(int n)
{
    int part;

    if (n < OWN_COUNT) {
        return &own_fields[n];
    }
    n -= OWN_COUNT;
    for (part = 0; part < ADMISSION_PARTS_NUMBER; part++) {
        const admission_field_t *field = admission_parts[part]->server_fields;

        for (; field && field->name; field++) {
            if (n-- == 0) {
                return field;
            }
        }
    }
    return NULL;
}
