/* law_weigh.h - what a kind of program costs.
 * Called by src/core and src/agent.
 *
 * A kind has a name, a number that is not 0, and takes as much memory as its
 * programs took lately. A permit stands for the memory of the smallest kind, so a
 * kind costs as many permits as times that fits into it. docs/auto.md explains it.
 */
#ifndef LAW_WEIGH_H
#define LAW_WEIGH_H

#include <stdint.h>

#define LAW_WEIGH_SETS 16
#define LAW_WEIGH_WAYS 4

typedef struct law_weigh_kind_t {
    uint32_t name; /* 0: none */
    uint32_t kb;
    uint32_t seen_sec; /* when one of it last ended */
} law_weigh_kind_t;

/** All zeros: nothing is known, all cost 1. Any bytes are survived. */
typedef struct law_weigh_t {
    uint32_t unit_kb; /* what a permit stands for; 0: not known */
    uint32_t most;    /* permits that memory has room for; nothing costs more */
    uint32_t last_sec; /* when a program of any kind last ended */
    law_weigh_kind_t kinds[LAW_WEIGH_SETS * LAW_WEIGH_WAYS]; /* set by set */
} law_weigh_t;

/** @return the first of the LAW_WEIGH_WAYS kinds among which one of this name is. */
static inline uint32_t law_weigh_set(uint32_t name)
{
    return name % LAW_WEIGH_SETS * LAW_WEIGH_WAYS;
}

/** @return what a program of @a kb costs. 0: not known, it costs 1. */
static inline uint32_t law_weigh_cost(uint32_t kb, uint32_t unit_kb,
                                      uint32_t most)
{
    uint64_t cost = unit_kb ? ((uint64_t)kb + unit_kb / 2) / unit_kb : 1;

    cost = cost < most ? cost : most;
    return cost > 0 ? (uint32_t)cost : 1;
}

/** @return what a program of the kind @a name costs; 1 if it is not known. */
uint32_t law_weigh_cost_of(const law_weigh_t *weigh, uint32_t name);

/** A program of the kind @a name has ended that took @a kb at most. */
void law_weigh_note(law_weigh_t *weigh, uint32_t name, uint32_t kb,
                    uint32_t now_sec);

/** Choose what a permit stands for, where programs may take @a budget_kb together
 *  and @a max may run. */
void law_weigh_settle(law_weigh_t *weigh, uint64_t budget_kb, uint32_t max);

/** @return what the dearest kind costs of those that were seen lately. */
uint32_t law_weigh_dearest(const law_weigh_t *weigh);

#endif
