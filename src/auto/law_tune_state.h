/* law_tune_state.h - what the law of `MaxConcurrent auto` is told and remembers.
 * Included by law_tune.h and by the files of the law.
 *
 * Plain data of fixed size: no pointer but the list in the sample, no padding
 * that matters, valid when it is all zero. docs/dev/auto.md explains the law.
 */
#ifndef LAW_TUNE_STATE_H
#define LAW_TUNE_STATE_H

#include <stdbool.h>
#include <stdint.h>

/** Why the limit is what it is. law_tune_reason_name() has the words. */
typedef enum law_tune_reason_t {
    LAW_TUNE_NONE,       /* nothing was decided yet */
    LAW_TUNE_START,      /* it grows while that pays */
    LAW_TUNE_MEMORY,     /* there is no memory for one more program */
    LAW_TUNE_PROCESSORS, /* the processors are busy */
    LAW_TUNE_THROUGHPUT, /* more programs do not serve more requests */
    LAW_TUNE_IDLE,       /* no request waits, so nothing is learnt */
    LAW_TUNE_NEW,        /* a program of unknown size runs */
    LAW_TUNE_BRAKE,      /* processes stalled because memory ran out */
    LAW_TUNE_BOUNDS,     /* the configured minimum or maximum */
    LAW_TUNE_ESTIMATE,   /* nothing is limited: law_tune_estimate() */
    LAW_TUNE_SILENT, /* nobody looks: said by who shows it, not by the law */
    LAW_TUNE_REASONS
} law_tune_reason_t;

/** Parts of the law. */
typedef enum law_tune_part_t {
    LAW_TUNE_NO_FORECAST = 1 << 0, /* memory from peaks */
    LAW_TUNE_NO_GATE = 1 << 1,     /* a program of unknown size runs alone */
    LAW_TUNE_NO_BRAKE = 1 << 2,    /* stalls lower the limit */
    LAW_TUNE_NO_PLATEAU = 1 << 3,  /* the end of the climb is computed */
    LAW_TUNE_NO_BUSY = 1 << 4,     /* busy processors end the climb */
    LAW_TUNE_NO_OWN = 1 << 5,      /* others' work is told from our own */
    LAW_TUNE_NO_TRIALS = 1 << 6,   /* a held limit is questioned */
    LAW_TUNE_NO_RAMP = 1 << 7,     /* at most twice what runs */
    LAW_TUNE_NO_CHOICE = 1 << 8,   /* only saturated ticks count */
    LAW_TUNE_NO_OTHERS = 1 << 9,   /* stalls may be those of others */
    LAW_TUNE_NO_STEPS = 1 << 10,   /* the cap rises in steps */
    LAW_TUNE_NO_KINDS = 1 << 11,   /* means begin again with other programs */
    LAW_TUNE_NO_PARTS = (1 << 12) - 1
} law_tune_part_t;

/* Tests show with it that a scenario needs a part. A server has no switch. */
#ifdef ADM_FAULTS
extern uint32_t law_tune_off; /* law_tune_part_t */
#define LAW_TUNE_HAS(part) (!(law_tune_off & LAW_TUNE_NO_##part))
#else
#define LAW_TUNE_HAS(part) true
#endif

/** What the administrator configured. The law swaps bounds that are crossed and
 *  takes a 0 for 1. */
typedef struct law_tune_rules_t {
    uint32_t min;
    uint32_t max;
} law_tune_rules_t;

/**
 * What an agent sees of one zone and its machine. "Since" means since the
 * sample before. Values out of range are clamped; any bytes are survived.
 */
typedef struct law_tune_sample_t {
    uint64_t now_usec; /* a clock that does not jump */
    uint32_t limit;    /* in force; what an unreadable state goes on with */
    uint32_t active;   /* permits in use now */
    uint32_t
        others_try; /* not 0: another zone tries a limit, not both at once */

    /* Requests that gave their permit back since. */
    uint32_t served;
    uint64_t service_usec;       /* sum of the time each held its permit */
    uint64_t service_square_ms2; /* sum of the squares, in ms * ms */
    uint32_t waited_permille;    /* part of the time in which one waited */

    /* Programs of this zone that ended since, with their peak resident set;
     * those whose peak is unknown are left out. */
    uint32_t ended;
    uint64_t peak_kb;         /* sum */
    uint64_t peak_square_kb2; /* sum of the squares */
    uint32_t peak_largest_kb;

    /* Programs of this zone that run now, as far as known. */
    const uint32_t *rss_kb; /* resident set of each; read during the call */
    uint32_t programs;

    /* Where a program takes several permits, each of these counts as a program
     * that has its part of the memory, here and above, and the time that a request
     * held them counts for each. */

    /* The machine, or the own control group where that is tighter. */
    uint32_t cores;          /* that httpd may use */
    uint32_t busy_permille;  /* of these since, by whomever, not niced work */
    uint32_t own_permille;   /* of these since, by httpd and its programs;
                              * busy_permille where it is unknown */
    uint64_t total_kb;       /* memory */
    uint64_t available_kb;   /* without swapping, less what the programs of
                              * other zones may still grow by */
    uint32_t stall_permille; /* share of the time in which processes
                              * stalled for memory */
} law_tune_sample_t;

/* ---- the state ----------------------------------------------------------------
 *
 * Times are in seconds on the sample's clock, memory is in KiB. Each struct
 * belongs to the file of its name.
 */

/** Samples are gathered into ticks of at least 250 ms. */
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

/** What programs need. */
typedef struct law_tune_memory_t {
    double ended;      /* programs whose peak is known */
    double mean_kb;    /* of the peaks, slow */
    double variance;   /* of the peaks, KiB * KiB */
    double recent_kb;  /* mean of the last ten or so */
    double largest_kb; /* half of what is above the mean fades in 10 minutes */
    double inflation;  /* 1, or more when forecasts have been wrong */
    double
        flat_kb; /* largest resident set seen before anything ended; or what was
                        * remembered */
    double flat_since;
    double kind_kb; /* size of a program that is larger than any before; or 0 */
    double kind_until;
    /* Programs that have ended since the last comparison: of their peaks. */
    double batch_ended;
    double batch_kb;
    double batch_square;
    double batch_largest;
    uint32_t unlike;   /* comparisons in a row that found smaller ones */
    uint32_t is_young; /* the means began again with the last batch; or 2: they
                        * are remembered, and no batch has told of them */
} law_tune_memory_t;

/** What a limit yields, measured over ticks that fill an epoch. */
typedef struct law_tune_epoch_t {
    double from; /* the first tick that counts begins here */
    law_tune_tick_t sum;
} law_tune_epoch_t;

typedef struct law_tune_yield_t {
    uint32_t limit; /* 0: none */
    double rate;    /* requests a second */
    double service; /* seconds */
    double busy;    /* 0 to 1 */
    double own;     /* 0 to 1 */
} law_tune_yield_t;

typedef enum law_tune_mode_t {
    LAW_TUNE_MODE_FIRST, /* nothing is known: one program shows its size */
    LAW_TUNE_MODE_CLIMB,
    LAW_TUNE_MODE_HOLD,
    LAW_TUNE_MODE_UP,   /* tries more */
    LAW_TUNE_MODE_DOWN, /* tries fewer */
    LAW_TUNE_MODES
} law_tune_mode_t;

typedef struct law_tune_search_t {
    uint32_t mode;   /* law_tune_mode_t */
    uint32_t reason; /* law_tune_reason_t */
    uint32_t target; /* what the mode asks for */
    uint32_t hold;   /* what a failed trial goes back to */
    uint32_t taken;  /* what it was before memory took some; or 0 */
    double waited;   /* part of the last seconds in which one waited */
    law_tune_epoch_t epoch;
    law_tune_yield_t reference; /* of the limit that is held */
    law_tune_yield_t lower;     /* of the step before, in a climb */
    double best_rate;           /* before the trials of fewer; 0: unknown */
    double least_service;       /* 0: unknown */
    double next_up, up_wait;
    double next_down, down_wait;
} law_tune_search_t;

typedef struct law_tune_brake_t {
    uint32_t is_on;
    uint32_t is_others; /* it has not helped: the stalls are not of this zone */
    uint32_t limit;     /* while it is on */
    uint32_t before;    /* what the limit was */
    uint32_t ceiling;   /* 0: none */
    uint32_t times;
    double began;
    double last_cut;
    double last_stall;
    double ceiling_until;
    double wait;
} law_tune_brake_t;

/** Raised whenever this struct changes. */
#define LAW_TUNE_VERSION 4

typedef struct law_tune_t {
    uint32_t version;    /* LAW_TUNE_VERSION, or 0 */
    uint32_t tick_limit; /* what the last tick decided */
    uint32_t limit;      /* what the last sample decided */
    uint32_t reason;     /* law_tune_reason_t, of limit */
    uint32_t memory_cap;
    uint32_t cap; /* what the search may use; follows memory_cap in steps */
    double now;
    double since; /* when limit became what it is */
    double budget_kb;
    double busy;
    law_tune_tick_t tick;
    law_tune_memory_t memory;
    law_tune_brake_t brake;
    law_tune_search_t search;
} law_tune_t;

#endif
