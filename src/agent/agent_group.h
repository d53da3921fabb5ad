/* agent_group.h - what control groups leave to httpd: memory and processors.
 * Called by agent_sense.
 *
 * Of the group that the process is in, and of all above it that it can see;
 * version 1 and version 2 of them, and both beside each other.
 */
#ifndef AGENT_GROUP_H
#define AGENT_GROUP_H

#include "agent_file.h"

/** Groups in groups, deeper than any system nests them. */
#define AGENT_GROUP_LEVELS 16

#define AGENT_GROUP_NONE UINT64_MAX

/** The memory of one group. */
typedef struct agent_group_memory_t {
    agent_file_t limits[2]; /* bytes; the least holds */
    agent_file_t usage;
    agent_file_t stat;
    const char *cache_key; /* in stat: bytes that can be given back at once */
    uint64_t limit_kb;     /* AGENT_GROUP_NONE: none */
    uint64_t cache_kb;
} agent_group_memory_t;

/** How much processor time one group may have. */
typedef struct agent_group_quota_t {
    agent_file_t max;    /* version 2: microseconds, or "max", of a period */
    agent_file_t quota;  /* version 1 */
    agent_file_t period; /* version 1 */
} agent_group_quota_t;

typedef struct agent_group_t {
    agent_group_memory_t memory[2 * AGENT_GROUP_LEVELS];
    unsigned memories;
    agent_group_quota_t quotas[2 * AGENT_GROUP_LEVELS];
    unsigned quotas_count;
    agent_file_t
        processor_usec; /* version 2: processor time of the own group */
    agent_file_t processor_nsec; /* version 1 */
    agent_file_t pressure;       /* version 2: stalls of the own group */
} agent_group_t;

/** Find the groups and open their files. */
void agent_group_open(agent_group_t *group, const char *root);

/** Close them. */
void agent_group_close(agent_group_t *group);

/** Read what changes slowly: limits, and what could be given back. */
void agent_group_refresh(agent_group_t *group);

/** @return KiB that are left below all limits; AGENT_GROUP_NONE: there is none. */
uint64_t agent_group_available_kb(const agent_group_t *group);

/** @return the least limit in KiB; AGENT_GROUP_NONE: there is none. */
uint64_t agent_group_limit_kb(const agent_group_t *group);

/** @return thousandths of processors that the groups may use;
 *  AGENT_GROUP_NONE: there is no limit. */
uint64_t agent_group_quota_permille(const agent_group_t *group);

/** @return the processor time in microseconds that the own group has taken;
 *  AGENT_GROUP_NONE where it is that of the whole system, or not known. */
uint64_t agent_group_processor_usec(const agent_group_t *group);

#endif
