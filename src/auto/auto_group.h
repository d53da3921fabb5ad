/* auto_group.h - cgroup limits of memory and CPU.
 * Called by auto_sense.
 *
 * Covers the cgroup of this process and all visible ones above it, of version
 * 1, version 2 or both.
 */
#ifndef AUTO_GROUP_H
#define AUTO_GROUP_H

#include "auto_procfile.h"

/** Maximum nesting: deeper than any system nests cgroups. */
#define AUTO_GROUP_LEVELS 16

#define AUTO_GROUP_NONE UINT64_MAX

/** Files of one cgroup. */
typedef struct auto_group_level_t {
    auto_procfile_t limits[2]; /* in bytes; the lower one applies */
    auto_procfile_t usage;
    auto_procfile_t stat;
    const char *cache_key; /* in stat: bytes of cache that can be reclaimed */
    uint64_t limit_kb;     /* AUTO_GROUP_NONE: no limit */
    uint64_t cache_kb;
    auto_procfile_t quota;  /* of CPU time. Version 2: followed by the period */
    auto_procfile_t period; /* version 1 */
} auto_group_level_t;

typedef struct auto_group_t {
    /* Cgroups of version 2, and of memory and cpu in version 1. */
    auto_group_level_t levels[3 * AUTO_GROUP_LEVELS];
    unsigned count;
    auto_procfile_t cpu;      /* CPU time of this cgroup */
    auto_procfile_t pressure; /* version 2: memory stalls of this cgroup */
} auto_group_t;

/** Find the cgroups and open their files. @param root  prefix of all paths; ""
 *  except in tests */
void auto_group_open(auto_group_t *group, const char *root);

/** Read what changes slowly: limits, and reclaimable cache. */
void auto_group_refresh(auto_group_t *group);

/** @return KiB available below all limits; AUTO_GROUP_NONE: no limit. */
uint64_t auto_group_available_kb(const auto_group_t *group);

/** @return the lowest limit in KiB; AUTO_GROUP_NONE: no limit. */
uint64_t auto_group_limit_kb(const auto_group_t *group);

/** @return the lowest CPU quota, in thousandths of a CPU; AUTO_GROUP_NONE: no
 *  limit. */
uint64_t auto_group_quota_permille(const auto_group_t *group);

/** @return the CPU time of this cgroup in microseconds; AUTO_GROUP_NONE if it
 *  is unknown, or if this is the root cgroup. */
uint64_t auto_group_cpu_usec(const auto_group_t *group);

#endif
