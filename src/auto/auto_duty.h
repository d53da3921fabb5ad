/* auto_duty.h - the agent's duty that sets automatic limits.
 * Called by agent, with a setup that auto.c fills in.
 */
#ifndef AUTO_DUTY_H
#define AUTO_DUTY_H

#include "agent/agent_duty.h"
#include "auto_view.h"

/** A zone with an automatic limit. */
typedef struct auto_zone_t {
    const char *name;
    adm_zone_t handle;
    uint32_t min;
    uint32_t max;
    bool is_dry; /* dry run: the limit is only an estimate */
} auto_zone_t;

/** A change of a limit, for the log. */
typedef struct auto_news_t {
    const auto_zone_t *zone;
    uint32_t before; /* the limit that was logged last */
    uint32_t now;
    bool has_braked; /* memory ran out */
    const char *reason;
    char sentence[AUTO_SENTENCE];
} auto_news_t;

typedef struct auto_setup_t {
    const auto_zone_t *zones;
    uint32_t count;
    const char *root; /* prefix of system files; "" except in tests */
    int state_fd;     /* AdmissionStateFile, open for reading and writing;
                   * -1: none */
    void (*log_event)(void *data, const auto_news_t *news);
    /* Log which system files cannot be read. */
    void (*log_missing)(void *data, const char *words);
    void *data;
} auto_setup_t;

/** The setup is an auto_setup_t. Continues from the previous agent's state. */
extern const agent_duty_t auto_agent_duty;

#endif
