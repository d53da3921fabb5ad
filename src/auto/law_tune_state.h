/* law_tune_state.h - input and state of the algorithm of `MaxConcurrent auto`.
 * Included by the law_tune files and auto_shm.h.
 *
 * The state is plain data of fixed size, without pointers, and valid when all zero.
 * docs/dev/auto.md explains the algorithm.
 */
#ifndef LAW_TUNE_STATE_H
#define LAW_TUNE_STATE_H

#include <stdbool.h>
#include <stdint.h>

/** Reason for the limit. law_tune_field_reason() has the words. */
typedef enum law_tune_reason_t {
    LAW_TUNE_NONE,       /* no decision yet */
    LAW_TUNE_START,      /* the limit grows while that serves more requests */
    LAW_TUNE_MEMORY,     /* there is no memory for one more program */
    LAW_TUNE_PROCESSORS, /* the CPUs are busy */
    LAW_TUNE_THROUGHPUT, /* more programs do not serve more requests */
    LAW_TUNE_IDLE,       /* no request waits, so nothing is measured */
    LAW_TUNE_NEW,        /* a program of unknown size runs */
    LAW_TUNE_BRAKE,      /* processes stalled because memory ran out */
    LAW_TUNE_BOUNDS,     /* the configured minimum or maximum */
    LAW_TUNE_ESTIMATE,   /* dry run: law_tune_estimate() */
    LAW_TUNE_SILENT,     /* the agent is silent; set by auto_view() */
    LAW_TUNE_REASONS
} law_tune_reason_t;

/** Parts of the algorithm that tests can turn off. */
typedef enum law_tune_part_t {
    LAW_TUNE_NO_FORECAST = 1 << 0, /* memory from peaks */
    LAW_TUNE_NO_GATE = 1 << 1,     /* a program of unknown size runs alone */
    LAW_TUNE_NO_BRAKE = 1 << 2,    /* stalls lower the limit */
    LAW_TUNE_NO_PLATEAU = 1 << 3,  /* the saturation point is computed */
    LAW_TUNE_NO_BUSY = 1 << 4,     /* busy CPUs end the climb */
    LAW_TUNE_NO_OWN = 1 << 5,      /* httpd's CPU time counts separately */
    LAW_TUNE_NO_TRIALS = 1 << 6,   /* other limits are tried at times */
    LAW_TUNE_NO_RAMP = 1 << 7,     /* at most twice the running programs */
    LAW_TUNE_NO_CHOICE = 1 << 8,   /* only saturated ticks count */
    LAW_TUNE_NO_OTHERS = 1 << 9,   /* other causes of stalls are detected */
    LAW_TUNE_NO_STEPS = 1 << 10,   /* the cap rises in steps */
    LAW_TUNE_NO_KINDS = 1 << 11,   /* means restart with other programs */
    LAW_TUNE_NO_PARTS = (1 << 12) - 1
} law_tune_part_t;

/* Tests prove with this that a scenario needs a part. Not in a server. */
#ifdef ADM_FAULTS
extern uint32_t law_tune_off; /* law_tune_part_t */
#define LAW_TUNE_HAS(part) (!(law_tune_off & LAW_TUNE_NO_##part))
#else
#define LAW_TUNE_HAS(part) true
#endif

/** The configured bounds. Crossed bounds are swapped; 0 counts as 1. */
typedef struct law_tune_rules_t {
    uint32_t min;
    uint32_t max;
} law_tune_rules_t;

/**
 * Measurements of one zone and its machine. "New" means since the previous
 * sample. Values out of range are clamped.
 */
typedef struct law_tune_sample_t {
    uint64_t now_usec;   /* monotonic clock */
    uint32_t limit;      /* in force; used if the state is invalid */
    uint32_t active;     /* permits in use now */
    uint32_t others_try; /* not 0: another zone tries a limit; only one zone
                          * may do so at a time */

    /* New: requests that released their permit. */
    uint32_t served;
    uint64_t service_usec;       /* sum of the times they held permits */
    uint64_t service_square_ms2; /* sum of the squares, in ms * ms */
    uint32_t waited_permille;    /* part of the time in which one waited */

    /* New: programs of this zone that ended, with their peak resident set;
     * without programs of unknown peak. */
    uint32_t ended;
    uint64_t peak_kb;         /* sum */
    uint64_t peak_square_kb2; /* sum of the squares */
    uint32_t peak_largest_kb;

    /* Programs of this zone that run now, as far as known. */
    const uint32_t *rss_kb; /* resident set of each; read during the call */
    uint32_t programs;

    /* A program that takes several permits counts as that many programs with
     * equal parts of its memory, here and above, and its service time counts
     * for each permit. */

    /* The machine, or httpd's control group if its limits are lower. */
    uint32_t cores;          /* that httpd may use */
    uint32_t busy_permille;  /* new: their use by all processes, not niced */
    uint32_t own_permille;   /* new: their use by httpd and its programs;
                              * busy_permille if unknown */
    uint64_t total_kb;       /* memory */
    uint64_t available_kb;   /* without swapping, less the possible growth of
                              * the programs of other zones */
    uint32_t stall_permille; /* new: part of the time in which processes
                              * stalled for memory */
} law_tune_sample_t;

/* ---- the state ----------------------------------------------------------------
 *
 * Times are in seconds on the sample's clock, memory is in KiB. Each struct
 * belongs to the file of its name.
 */

/** Sums of the samples of a tick, which takes at least 250 ms. */
typedef struct law_tune_tick_t {
    double sec;
    double served;
    double service_sec;    /* sum */
    double service_square; /* sum, s * s */
    double waited_sec;
    double busy_sec;
    double own_sec;
    double stall_sec;
} law_tune_tick_t;

/** Memory that programs need. */
typedef struct law_tune_memory_t {
    double ended;       /* programs whose peak is known */
    double mean_kb;     /* of the peaks, slow */
    double variance;    /* of the peaks, KiB * KiB */
    double recent_kb;   /* mean of about the last ten */
    double largest_kb;  /* its excess over the mean halves in 10 minutes */
    double inflation;   /* factor; above 1 after wrong forecasts */
    double flat_kb;     /* largest resident set before any program ended; or the
                        * need from before a restart */
    double flat_since;  /* when flat_kb last grew */
    double surprise_kb; /* running program larger than any before; 0: none */
    double surprise_until; /* it is expected to grow until then */
    /* Peaks of the programs that have ended since the last comparison. */
    double batch_ended;
    double batch_kb;
    double batch_square;
    double batch_largest;
    uint32_t unlike_batches; /* consecutive batches of smaller programs */
    uint32_t provisional; /* 0: no; 1: the means restarted with the last batch;
                           * 2: they are from before a restart of httpd */
} law_tune_memory_t;

/** Measurement interval: ticks under one limit. */
typedef struct law_tune_epoch_t {
    double from; /* earliest start of the first tick */
    law_tune_tick_t sum;
} law_tune_epoch_t;

/** Result of an epoch: means. */
typedef struct law_tune_yield_t {
    uint32_t limit; /* 0: none */
    double rate;    /* requests per second */
    double service; /* seconds */
    double busy;    /* 0 to 1 */
    double own;     /* 0 to 1 */
} law_tune_yield_t;

typedef enum law_tune_mode_t {
    LAW_TUNE_MODE_FIRST, /* nothing is known: one program shows its size */
    LAW_TUNE_MODE_CLIMB,
    LAW_TUNE_MODE_HOLD,
    LAW_TUNE_MODE_UP,   /* trial of a higher limit */
    LAW_TUNE_MODE_DOWN, /* trial of a lower limit */
    LAW_TUNE_MODES
} law_tune_mode_t;

typedef struct law_tune_search_t {
    uint32_t mode;   /* law_tune_mode_t */
    uint32_t reason; /* law_tune_reason_t */
    uint32_t target; /* limit that the mode chooses */
    uint32_t hold;   /* limit after a failed trial */
    uint32_t taken;  /* limit before the cap lowered it; 0: the cap did not */
    double waited;   /* part of the last seconds in which a request waited */
    law_tune_epoch_t epoch;
    law_tune_yield_t reference; /* at the held limit */
    law_tune_yield_t lower;     /* at the previous step of a climb */
    double best_rate;           /* before trials of lower limits; 0: unknown */
    double least_service;       /* 0: unknown */
    double next_up, up_wait;
    double next_down, down_wait;
} law_tune_search_t;

typedef struct law_tune_brake_t {
    uint32_t is_on;
    uint32_t is_others; /* it did not help: the stalls have another cause */
    uint32_t limit;     /* while the brake is on */
    uint32_t before;    /* limit before the brake */
    uint32_t ceiling;   /* 0: none */
    uint32_t times;
    double began;
    double last_cut;
    double last_stall;
    double ceiling_until;
    double wait;
} law_tune_brake_t;

/** Must be raised when this struct changes. */
#define LAW_TUNE_VERSION 4

typedef struct law_tune_t {
    uint32_t version;    /* LAW_TUNE_VERSION, or 0 */
    uint32_t tick_limit; /* decided by the last tick */
    uint32_t limit;      /* decided by the last sample */
    uint32_t reason;     /* law_tune_reason_t of the limit */
    uint32_t memory_cap;
    uint32_t cap; /* maximum for the search; follows memory_cap in steps */
    double now;
    double since; /* last change of the limit */
    double budget_kb;
    double busy;
    law_tune_tick_t tick;
    law_tune_memory_t memory;
    law_tune_brake_t brake;
    law_tune_search_t search;
} law_tune_t;

#endif
