/* agent_sense.h - what the system says of memory and processors.
 * Called by agent_account and auto_duty; agent has the one that both use.
 *
 * Reads files of /proc and of control groups. What cannot be read is left out: the
 * rest works without it.
 */
#ifndef AGENT_SENSE_H
#define AGENT_SENSE_H

#include "core/adm_time.h"
#include "agent_group.h"

/** What is seen, of the machine or of the own control group where that is
 *  tighter. */
typedef struct agent_seen_t {
    uint32_t cores;         /* that httpd may use */
    uint32_t busy_permille; /* of these lately, by whomever; not niced work */
    uint32_t own_permille;  /* of these lately, by the own group; the same where
                             * it is not known */
    uint64_t total_kb;      /* memory; 0: not known */
    uint64_t available_kb;  /* without swapping */
    uint32_t
        stall_permille; /* of the time since the last look, in which processes
                              * stalled for memory */
} agent_seen_t;

typedef struct agent_sense_t {
    agent_file_t memory;   /* /proc/meminfo */
    agent_file_t stat;     /* /proc/stat */
    agent_file_t self;     /* /proc/self/status */
    agent_file_t pressure; /* /proc/pressure/memory */
    agent_file_t events;   /* /proc/vmstat */
    agent_group_t group;

    /* Of the last look. */
    bool has_looked;
    adm_usec_t looked_at;    /* at memory */
    adm_usec_t processed_at; /* at processors and events */
    uint64_t stalled_usec;
    uint64_t busy_ticks, all_ticks;
    uint64_t own_usec;
    uint64_t swapped_pages, direct_reclaims;
    uint32_t event_permille; /* stalls as the events tell */
    agent_seen_t seen;
} agent_sense_t;

/** Open all. @a root stands in front of each path: "" is the system's. */
void agent_sense_open(agent_sense_t *sense, const char *root);

/**
 * Look at memory and stalls; with @a slowly also at processors, limits, and what
 * else is not worth to be read more often than four times a second.
 *
 * @return what is seen, until the next look.
 */
const agent_seen_t *agent_sense_look(agent_sense_t *sense, adm_usec_t now,
                                     bool slowly);

/** @return the memory that is available, as in what a look sees. Does not count as a look.
 *  With @a slowly limits are read again. */
uint64_t agent_sense_available_kb(agent_sense_t *sense, bool slowly);

/** @return what cannot be seen here, in words, separated by commas; "": nothing
 *  is missing. */
const char *agent_sense_missing(const agent_sense_t *sense);

#endif
