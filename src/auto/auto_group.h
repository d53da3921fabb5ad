/* agent_group.h - cgroup limits of memory and CPU.
 * Called by agent_sense.
 *
 * Covers the cgroup of this process and all visible ones above it, of version
 * 1, version 2 or both.
 */
#ifndef AGENT_GROUP_H
#define AGENT_GROUP_H

#include "auto_procfile.h"

/** Maximum nesting: deeper than any system nests cgroups. */
#define AGENT_GROUP_LEVELS 16

#define AGENT_GROUP_NONE UINT64_MAX

/** Files of one cgroup. */
typedef struct agent_group_level_t {
    agent_file_t limits[2]; /* in bytes; the lower one applies */
    agent_file_t usage;
    agent_file_t stat;
    const char *cache_key; /* in stat: bytes of cache that can be reclaimed */
    uint64_t limit_kb;     /* AGENT_GROUP_NONE: no limit */
    uint64_t cache_kb;
    agent_file_t quota;  /* of CPU time. Version 2: followed by the period */
    agent_file_t period; /* version 1 */
} agent_group_level_t;

typedef struct agent_group_t {
    /* Cgroups of version 2, and of memory and cpu in version 1. */
    agent_group_level_t levels[3 * AGENT_GROUP_LEVELS];
    unsigned count;
    agent_file_t cpu;      /* CPU time of this cgroup */
    agent_file_t pressure; /* version 2: memory stalls of this cgroup */
} agent_group_t;

/** Find the cgroups and open their files. @param root  prefix of all paths; ""
 *  except in tests */
void agent_group_open(agent_group_t *group, const char *root);

/** Read what changes slowly: limits, and reclaimable cache. */
void agent_group_refresh(agent_group_t *group);

/** @return KiB available below all limits; AGENT_GROUP_NONE: no limit. */
uint64_t agent_group_available_kb(const agent_group_t *group);

/** @return the lowest limit in KiB; AGENT_GROUP_NONE: no limit. */
uint64_t agent_group_limit_kb(const agent_group_t *group);

/** @return the lowest CPU quota, in thousandths of a CPU; AGENT_GROUP_NONE: no
 *  limit. */
uint64_t agent_group_quota_permille(const agent_group_t *group);

/** @return the CPU time of this cgroup in microseconds; AGENT_GROUP_NONE if it
 *  is unknown, or if this is the root cgroup. */
uint64_t agent_group_cpu_usec(const agent_group_t *group);

#endif
