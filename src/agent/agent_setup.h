/* agent_setup.h - what an agent is to do beside its rounds.
 * Included by agent.h and agent_tune.h; filled in by src/httpd.
 */
#ifndef AGENT_SETUP_H
#define AGENT_SETUP_H

#include "adm.h"
#include "engine.h"

/** A zone whose limit finds itself. */
typedef struct agent_zone_t {
    const char *name;
    adm_zone_t handle;
    uint32_t min;
    uint32_t max;
    bool is_dry; /* nothing is limited: the limit is an estimate */
} agent_zone_t;

/** What the agent has to say of such a zone. */
typedef struct agent_news_t {
    const agent_zone_t *zone;
    uint32_t before; /* the limit that was last told */
    uint32_t now;
    bool has_braked; /* memory ran out */
    const char *reason;
    char sentence[ADM_AUTO_SENTENCE];
} agent_news_t;

/** A zone that has a share of a limit over servers. */
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
    AGENT_FLEET_DOUBLED, /* somebody else speaks in this server's name: a zone */
    AGENT_FLEET_LATE,    /* a zone: the engine believed nothing */
    AGENT_FLEET_LESS,    /* a zone: another server states this lower limit */
    AGENT_FLEET_OVER,    /* a zone: so many are granted, above the limit */
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
    const char *name; /* of this server, for people */
    const agent_share_t *zones;
    uint32_t count;
    void (*tell)(void *data, const agent_fleet_news_t *news);
    void *data;
} agent_fleet_t;

/** What an agent is to do beside its rounds. */
typedef struct agent_setup_t {
    const agent_fleet_t *fleet; /* NULL: no zone is shared */
    const agent_zone_t *zones;
    uint32_t count;
    int state_fd; /* file of what is kept over restarts, open for reading and
                   * writing; -1: none */
    int id_fd; /* file that has this server's id, open for writing; -1: none */
    void (*tell)(void *data, const agent_news_t *news);
    void (*tell_missing)(void *data,
                         const char *words); /* what cannot be seen */
    void *data;
} agent_setup_t;

#endif
