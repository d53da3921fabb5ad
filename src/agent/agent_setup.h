/* agent_setup.h - what an agent is to do beside its rounds.
 * Included by agent.h and agent_tune.h; filled in by src/httpd.
 */
#ifndef AGENT_SETUP_H
#define AGENT_SETUP_H

#include "adm.h"

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

/** What an agent is to do beside its rounds. */
typedef struct agent_setup_t {
    const agent_zone_t *zones;
    uint32_t count;
    int state_fd; /* file of what is kept over restarts, open for reading and
                   * writing; -1: none */
    void (*tell)(void *data, const agent_news_t *news);
    void (*tell_missing)(void *data,
                         const char *words); /* what cannot be seen */
    void *data;
} agent_setup_t;

#endif
