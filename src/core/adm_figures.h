/* adm_figures.h - what a zone counts.
 * Included by adm.h. Written by adm_zone, adm_ticket and adm_reap, under the
 * zone's lock; read by all in a copy.
 */
#ifndef ADM_FIGURES_H
#define ADM_FIGURES_H

#include "adm_outcome.h"
#include "adm_time.h"

/** Bucket n counts durations below 2^n milliseconds, the last all others. */
#define ADM_HISTOGRAM_BUCKETS 18

typedef struct adm_durations_t {
    uint64_t count;
    uint64_t sum_usec;
    uint64_t max_usec;
    uint64_t bucket[ADM_HISTOGRAM_BUCKETS];
} adm_durations_t;

/** How numbers are spread: bucket n counts those below 2^n, the last all others. */
#define ADM_SPREAD_BUCKETS 28

typedef struct adm_spread_t {
    uint64_t sum;
    uint64_t max;
    uint64_t bucket[ADM_SPREAD_BUCKETS];
} adm_spread_t;

/** What programs took that have ended, each as exactly as it is known. */
typedef struct adm_account_t {
    uint64_t count;
    adm_spread_t peak_kb; /* largest resident set */
    adm_spread_t processor_msec;
    adm_spread_t faults; /* for which it waited for the disk */
} adm_account_t;

/** Memory of programs that have ended, for automatic limits. A program that
 *  cost several permits counts as that many, each with its part. */
typedef struct adm_usages_t {
    uint64_t count;
    uint64_t peak_kb;         /* sum of their largest resident sets */
    uint64_t peak_square_kb2; /* sum of the squares; only differences count */
} adm_usages_t;

/** What a zone counts; all of it begins at zero with the zone. */
typedef struct adm_figures_t {
    uint64_t outcomes[ADM_OUTCOMES]; /* requests, by what became of them; those
                                      * let through are counted of the server */
    uint64_t reclaimed;              /* tickets taken back from dead children */
    uint64_t grants_passed_on;       /* permits that were won and not used */
    uint64_t service_mean_usec;      /* moving mean, for estimates */
    uint64_t slow_mean_usec;         /* the same over more of them, while some
                                      * are rejected by it */
    uint64_t slow_count;
    uint64_t dry_wait_usec; /* in a dry run: how long those would have waited
                             * that would have, estimated */
    uint64_t dry_work_usec; /* in a dry run: for how long the permits together
                             * would be in use by those that came, at dry_work_at */
    uint64_t dry_work_at;
    uint64_t dry_rejected_at; /* when the last one would have been rejected */
    adm_durations_t wait;     /* of those that waited and got a permit */
    adm_durations_t service;  /* how long a permit was held */
    uint64_t
        work_usec; /* sum of those, each times the permits it was held with */
    uint64_t service_square_msec2; /* sum of the squares of these */
    uint64_t queued_usec;          /* time in which somebody waited, as far as
                                      * it is over */
    adm_usages_t programs;         /* for limits that find themselves */
    adm_account_t account;         /* for people */
    uint32_t queued_max;
    uint32_t has_target; /* 1: a request came that is not to wait for long */
} adm_figures_t;

/** @return how many got a permit. */
static inline uint64_t adm_figures_admitted(const adm_figures_t *figures)
{
#define ADM_IF_RUN(value, name, action, is_rejected, reason) \
    +((action) == ADM_RUN ? figures->outcomes[ADM_##value] : 0)
    return 0 ADM_OUTCOME_LIST(ADM_IF_RUN);
#undef ADM_IF_RUN
}

/** @return how many were rejected, or would have been but for a dry run. */
static inline uint64_t adm_figures_rejected(const adm_figures_t *figures)
{
#define ADM_IF_REJECTED(value, name, action, is_rejected, reason) \
    +((is_rejected) ? figures->outcomes[ADM_##value] : 0)
    return 0 ADM_OUTCOME_LIST(ADM_IF_REJECTED);
#undef ADM_IF_REJECTED
}

/** Count a duration; a negative one as 0. */
void adm_figures_add_duration(adm_durations_t *durations, adm_usec_t duration);

/** The queue is this long now. */
void adm_figures_note_queued(adm_figures_t *figures, uint32_t queued);

/** Programs have ended that had @a peak_kb of memory at most, each. */
void adm_figures_note_programs(adm_figures_t *figures, uint64_t peak_kb,
                               uint32_t count);

/** A program has ended that took so much. */
void adm_figures_account(adm_figures_t *figures, uint64_t peak_kb,
                         uint64_t processor_usec, uint64_t faults);

/** @return the number that @a percent of them are below, as far as the buckets
 *  tell it: as if they were spread evenly between the ends of theirs. 0: there are
 *  none. */
uint64_t adm_spread_percentile(const adm_spread_t *spread, unsigned percent);

/** @return the same of durations, in microseconds. */
uint64_t adm_durations_percentile(const adm_durations_t *durations,
                                  unsigned percent);

/** A request has ended that held @a permits for so long. */
void adm_figures_note_served(adm_figures_t *figures, adm_usec_t served,
                             uint32_t permits);

#endif
