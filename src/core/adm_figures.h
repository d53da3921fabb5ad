/* adm_figures.h - a zone's statistics.
 * Included by adm.h. Written by adm_zone, adm_ticket and adm_round, under the
 * zone's lock; other code reads a copy.
 */
#ifndef ADM_FIGURES_H
#define ADM_FIGURES_H

#include "adm_outcome.h"
#include "adm_time.h"

/** Bucket n counts durations below 2^n milliseconds, the last bucket all
 *  others. */
#define ADM_HISTOGRAM_BUCKETS 18

typedef struct adm_durations_t {
    uint64_t count;
    uint64_t sum_usec;
    uint64_t max_usec;
    uint64_t bucket[ADM_HISTOGRAM_BUCKETS];
} adm_durations_t;

/** Distribution of numbers. Bucket n counts numbers below 2^n, the last bucket
 *  all others. */
#define ADM_SPREAD_BUCKETS 28

typedef struct adm_spread_t {
    uint64_t sum;
    uint64_t max;
    uint64_t bucket[ADM_SPREAD_BUCKETS];
} adm_spread_t;

/** Resources used by programs that have ended. */
typedef struct adm_account_t {
    uint64_t count;
    adm_spread_t peak_kb; /* largest resident set */
    adm_spread_t processor_msec;
    adm_spread_t faults; /* page faults that needed disk I/O */
} adm_account_t;

/** Memory of programs that have ended, for automatic limits. A program that
 *  cost several permits counts as that many programs, each with its part of the
 *  memory. */
typedef struct adm_usages_t {
    uint64_t count;
    uint64_t peak_kb;         /* sum of largest resident sets */
    uint64_t peak_square_kb2; /* sum of their squares; can wrap */
} adm_usages_t;

/** A zone's statistics, which start at 0 with each incarnation of the zone.
 *  Written with the zone's lock. */
typedef struct adm_figures_t {
    uint64_t outcomes[ADM_OUTCOMES]; /* UNLIMITED: in the header */
    uint64_t reclaimed;              /* tickets of dead children */
    uint64_t grants_passed_on;       /* grants that were not used */
    uint64_t service_mean_usec;      /* moving mean of service, for estimates */
    uint64_t slow_mean_usec;         /* slower mean, for targets */
    uint64_t dry_wait_usec;          /* dry run: estimated sum of all waits */
    /* Dry run: permit time that the requests admitted by the limit would still
     * need at dry_work_at. */
    uint64_t dry_work_usec;
    uint64_t dry_work_at;
    uint64_t dry_rejected_at; /* dry run: time of the last rejection */
    adm_durations_t wait;     /* of requests that waited for a permit */
    adm_durations_t service;  /* time that permits were held */
    /* Sum of service, each duration times its permits, and of the squares of
     * these. */
    uint64_t work_usec;
    uint64_t service_square_msec2;
    uint64_t queued_usec;  /* completed time with a non-empty queue */
    adm_usages_t programs; /* for automatic limits */
    adm_account_t account; /* for display */
    uint32_t queued_max;
} adm_figures_t;

/** @return the number of requests that got a permit. */
static inline uint64_t adm_figures_admitted(const adm_figures_t *figures)
{
#define ADM_IF_RUN(value, name, action, is_rejected, reason) \
    +((action) == ADM_RUN ? figures->outcomes[ADM_##value] : 0)
    return 0 ADM_OUTCOME_LIST(ADM_IF_RUN);
#undef ADM_IF_RUN
}

/** @return the number of requests that were rejected, or would have been
 *  without dry run. */
static inline uint64_t adm_figures_rejected(const adm_figures_t *figures)
{
#define ADM_IF_REJECTED(value, name, action, is_rejected, reason) \
    +((is_rejected) ? figures->outcomes[ADM_##value] : 0)
    return 0 ADM_OUTCOME_LIST(ADM_IF_REJECTED);
#undef ADM_IF_REJECTED
}

/** Count a duration. A negative one counts as 0. */
void adm_figures_add_duration(adm_durations_t *durations, adm_usec_t duration);

/** Note the current length of the queue, for its maximum. */
void adm_figures_note_queued(adm_figures_t *figures, uint32_t queued);

/** Count @a count ended programs whose largest resident set was @a peak_kb
 *  each. */
void adm_figures_note_programs(adm_figures_t *figures, uint64_t peak_kb,
                               uint32_t count);

/** Count an ended program, with what it used. */
void adm_figures_account(adm_figures_t *figures, uint64_t peak_kb,
                         uint64_t processor_usec, uint64_t faults);

/** @return the number below which @a percent of all numbers are, interpolated
 *  within its bucket; 0 if there are none. */
uint64_t adm_spread_percentile(const adm_spread_t *spread, unsigned percent);

/** @return the same for durations, in microseconds. */
uint64_t adm_durations_percentile(const adm_durations_t *durations,
                                  unsigned percent);

/** Count an ended request, which held @a permits for @a served microseconds. */
void adm_figures_note_served(adm_figures_t *figures, adm_usec_t served,
                             uint32_t permits);

/* ---- estimates: pure functions ------------------------------------------ */

/** @return the estimated wait of a request behind @a queued others, in
 *  microseconds. @a service_usec is how long a request holds one of the
 *  @a permits permits, on average. 0 permits count as 1. */
uint64_t law_wait_usec(uint32_t queued, uint64_t service_usec,
                       uint32_t permits);

/** @return the moving mean of service times after the @a count-th one,
 *  @a served. The first one sets the mean, each later one moves it by an
 *  eighth. */
uint64_t law_wait_mean(uint64_t mean, uint64_t count, int64_t served);

/** @return the slow mean of service times after the @a count-th one, @a served.
 *  The plain mean of the first 64; each later one moves it by a 64th. */
uint64_t law_wait_slow_mean(uint64_t mean, uint64_t count, int64_t served);

#endif
