/* fleet_duty.h - the duty of the agent that leases shares of fleet limits.
 * Called by agent; its setup is filled in by src/httpd.
 */
#ifndef FLEET_DUTY_H
#define FLEET_DUTY_H

#include "agent/agent_duty.h"
#include "engine.h"
#include "fleet_view.h"

/** A zone that has a share of a fleet limit. */
typedef struct agent_share_t {
    const char *name;
    adm_zone_t handle;
    law_fleet_terms_t terms; /* hold_usec 0: by what requests take */
    adm_usec_t longest_usec; /* at most this, then */
} agent_share_t;

/** What happens to shares. */
typedef enum agent_fleet_event_t {
    AGENT_FLEET_CONNECTED, /* with the engine; number: 1, it was restarted */
    AGENT_FLEET_LOST,      /* no connection: why */
    AGENT_FLEET_REFUSED, /* the engine does not take a zone: its name and why */
    AGENT_FLEET_LAPSED,  /* the lease of a zone is over: its name */
    AGENT_FLEET_LEASED,  /* there is one again */
    AGENT_FLEET_DOUBLED, /* another server uses this one's id: a zone */
    AGENT_FLEET_LATE,    /* a zone: the engine believed nothing */
    AGENT_FLEET_LESS,    /* a zone: another server states this lower limit */
    AGENT_FLEET_OVER,    /* a zone: this number is granted, above the limit */
    AGENT_FLEET_EVENTS
} agent_fleet_event_t;

/** What happened: of which zone, why, and a number, as far as there are any. */
typedef struct agent_fleet_news_t {
    agent_fleet_event_t event;
    const char *zone;
    const char *why;
    uint32_t number;
    uint32_t limit; /* of the zone, as this server has it; or of all */
} agent_fleet_news_t;

typedef struct agent_fleet_t {
    const engine_provider_t *provider;
    const engine_address_t *address;
    const adm_fleet_self_t *self;
    const char *name; /* of this server, for people */
    const agent_share_t *zones;
    uint32_t count;
    int id_fd; /* file that has this server's id, open for writing; -1: none */
    void (*tell)(void *data, const agent_fleet_news_t *news);
    void *data;
} agent_fleet_t;

/** The setup is an agent_fleet_t; NULL: no zone is shared. */
extern const agent_duty_t agent_fleet_duty;

#endif
