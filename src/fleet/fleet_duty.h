/* fleet_duty.h - the agent's duty that leases shares of limits across servers.
 * Called by agent, with a setup that fleet.c fills in.
 */
#ifndef FLEET_DUTY_H
#define FLEET_DUTY_H

#include "agent/agent_duty.h"
#include "engine.h"
#include "fleet_view.h"

/** A zone whose limit is shared. */
typedef struct agent_share_t {
    const char *name;
    adm_zone_t handle;
    law_fleet_terms_t terms; /* hold_usec 0: from service times */
    adm_usec_t longest_usec; /* maximum of such a hold */
} agent_share_t;

/** Events for the log. */
typedef enum fleet_event_t {
    FLEET_EVENT_CONNECTED, /* number 1: the engine was restarted */
    FLEET_EVENT_LOST,      /* why */
    FLEET_EVENT_REFUSED,   /* zone, why: the engine rejects its syncs */
    FLEET_EVENT_LAPSED,    /* zone: its lease has expired */
    FLEET_EVENT_LEASED,    /* zone: it has a lease again */
    FLEET_EVENT_DOUBLED,   /* zone: another server uses this server's id */
    FLEET_EVENT_LATE,      /* zone: the engine ignored its sync (R5) */
    FLEET_EVENT_LESS,      /* zone, limit; number: a lower limit elsewhere */
    FLEET_EVENT_OVER,      /* zone; number: permits granted, above limit */
    FLEET_EVENTS
} fleet_event_t;

/** An event with the members that the event names; the others are 0. */
typedef struct fleet_news_t {
    fleet_event_t event;
    const char *zone;
    const char *why;
    uint32_t number;
    uint32_t limit; /* LESS: of this server; OVER: of all servers */
} fleet_news_t;

typedef struct fleet_setup_t {
    const engine_provider_t *provider;
    const engine_address_t *address;
    const fleet_self_t *self;
    const char *name; /* of this server, for administrators */
    const agent_share_t *zones;
    uint32_t count;
    int id_fd; /* file with this server's id, open for writing; -1: none */
    void (*log_event)(const fleet_news_t *news);
} fleet_setup_t;

/** The setup is an fleet_setup_t, or NULL if no zone is shared. */
extern const agent_duty_t fleet_duty;

#endif
