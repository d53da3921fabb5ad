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
typedef enum agent_fleet_event_t {
    AGENT_FLEET_CONNECTED, /* number 1: the engine was restarted */
    AGENT_FLEET_LOST,      /* why */
    AGENT_FLEET_REFUSED,   /* zone, why: the engine rejects its syncs */
    AGENT_FLEET_LAPSED,    /* zone: its lease has expired */
    AGENT_FLEET_LEASED,    /* zone: it has a lease again */
    AGENT_FLEET_DOUBLED,   /* zone: another server uses this server's id */
    AGENT_FLEET_LATE,      /* zone: the engine ignored its sync (R5) */
    AGENT_FLEET_LESS,      /* zone, limit; number: a lower limit elsewhere */
    AGENT_FLEET_OVER,      /* zone; number: permits granted, above limit */
    AGENT_FLEET_EVENTS
} agent_fleet_event_t;

/** An event with the members that the event names; the others are 0. */
typedef struct agent_fleet_news_t {
    agent_fleet_event_t event;
    const char *zone;
    const char *why;
    uint32_t number;
    uint32_t limit; /* LESS: of this server; OVER: of all servers */
} agent_fleet_news_t;

typedef struct agent_fleet_t {
    const engine_provider_t *provider;
    const engine_address_t *address;
    const adm_fleet_self_t *self;
    const char *name; /* of this server, for administrators */
    const agent_share_t *zones;
    uint32_t count;
    int id_fd; /* file with this server's id, open for writing; -1: none */
    void (*log_event)(void *data, const agent_fleet_news_t *news);
    void *data;
} agent_fleet_t;

/** The setup is an agent_fleet_t, or NULL if no zone is shared. */
extern const agent_duty_t agent_fleet_duty;

#endif
