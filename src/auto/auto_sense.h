/* agent_sense.h - memory and CPU usage of the machine, or of the cgroup.
 * Called by agent_programs and auto_duty; agent owns the one that both use.
 *
 * Reads /proc and cgroup files. What cannot be read is left out.
 */
#ifndef AGENT_SENSE_H
#define AGENT_SENSE_H

#include "core/adm_time.h"
#include "auto_group.h"

/** Measurements of the machine, or of this process's cgroup if it is tighter.
 *  Permille values are averages since the last sample. */
typedef struct agent_seen_t {
    uint32_t cores;         /* CPUs that httpd can use */
    uint32_t busy_permille; /* of these CPUs' time; without niced processes */
    uint32_t own_permille;  /* used by this cgroup; busy_permille if unknown */
    uint64_t total_kb;      /* memory; UINT32_MAX: unknown */
    uint64_t available_kb;  /* without swapping */
    /* Time in which processes stalled for memory. */
    uint32_t stall_permille;
} agent_seen_t;

typedef struct agent_sense_t {
    agent_file_t memory;   /* /proc/meminfo */
    agent_file_t stat;     /* /proc/stat */
    agent_file_t self;     /* /proc/self/status */
    agent_file_t pressure; /* /proc/pressure/memory */
    agent_file_t events;   /* /proc/vmstat */
    agent_group_t group;

    /* State of the last sample. */
    bool has_looked;
    adm_usec_t sampled_at;   /* memory sampled at */
    adm_usec_t processed_at; /* CPUs and events sampled at */
    uint64_t stalled_usec;
    uint64_t busy_ticks, all_ticks;
    uint64_t own_usec;
    uint64_t swapped_pages, direct_reclaims;
    uint32_t event_permille; /* stalls estimated from events */
    agent_seen_t seen;
} agent_sense_t;

/** Open all files. @param root  prefix of all paths; "" except in tests */
void agent_sense_open(agent_sense_t *sense, const char *root);

/**
 * Sample memory and stalls.
 * @param slowly  sample also CPUs, limits, and what need not be read more than
 *         four times per second
 * @return the measurements, valid until the next call.
 */
const agent_seen_t *agent_sense_sample(agent_sense_t *sense, adm_usec_t now,
                                       bool slowly);

/**
 * @return the available memory in KiB, without a sample of the rest.
 * @param slowly  read limits again
 */
uint64_t agent_sense_available_kb(agent_sense_t *sense, bool slowly);

/** @return a list of what cannot be measured, separated by commas; "" if
 *  nothing is missing. Valid until the next call. */
const char *agent_sense_missing(const agent_sense_t *sense);

#endif
