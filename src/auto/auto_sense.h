/* auto_sense.h - memory and CPU usage of the machine, or of the cgroup.
 * Called by auto_programs and auto_duty; agent owns the one that both use.
 *
 * Reads /proc and cgroup files. What cannot be read is left out.
 */
#ifndef AUTO_SENSE_H
#define AUTO_SENSE_H

#include "core/adm_time.h"
#include "auto_group.h"

/** Measurements of the machine, or of this process's cgroup if it is tighter.
 *  Permille values are averages since the last sample. */
typedef struct auto_seen_t {
    uint32_t cores;         /* CPUs that httpd can use */
    uint32_t busy_permille; /* of these CPUs' time; without niced processes */
    uint32_t own_permille;  /* used by this cgroup; busy_permille if unknown */
    uint64_t total_kb;      /* memory; UINT32_MAX: unknown */
    uint64_t available_kb;  /* without swapping */
    /* Time in which processes stalled for memory. */
    uint32_t stall_permille;
} auto_seen_t;

typedef struct auto_sense_t {
    auto_procfile_t memory;   /* /proc/meminfo */
    auto_procfile_t stat;     /* /proc/stat */
    auto_procfile_t pressure; /* /proc/pressure/memory */
    auto_procfile_t events;   /* /proc/vmstat */
    auto_group_t group;

    /* State of the last sample. */
    bool has_sampled;
    adm_usec_t sampled_at;   /* memory sampled at */
    adm_usec_t processed_at; /* CPUs and events sampled at */
    uint64_t stalled_usec;
    uint64_t busy_ticks, all_ticks;
    uint64_t own_usec;
    uint64_t swapped_pages, direct_reclaims;
    uint32_t event_permille; /* stalls estimated from events */
    auto_seen_t seen;
} auto_sense_t;

/** Open all files. @param root  prefix of all paths; "" except in tests */
void auto_sense_open(auto_sense_t *sense, const char *root);

/**
 * Sample memory and stalls.
 * @param slowly  sample also CPUs, limits, and what need not be read more than
 *         four times per second
 * @return the measurements, valid until the next call.
 */
const auto_seen_t *auto_sense_sample(auto_sense_t *sense, adm_usec_t now,
                                     bool slowly);

/**
 * @return the available memory in KiB, without a sample of the rest.
 * @param slowly  read limits again
 */
uint64_t auto_sense_available_kb(auto_sense_t *sense, bool slowly);

/** @return a list of what cannot be measured, separated by commas; "" if
 *  nothing is missing. Valid until the next call. */
const char *auto_sense_missing(const auto_sense_t *sense);

#endif
