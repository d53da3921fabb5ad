/* test_agenda.h - what happens next in a simulation, and chance that repeats. */
#ifndef TEST_AGENDA_H
#define TEST_AGENDA_H

#include <stdint.h>

enum { AGENDA_MOST = 4096 };

typedef struct agenda_event_t {
    double at;
    uint64_t seq; /* those of one time in their order */
    int what;
    int idx;
} agenda_event_t;

/** A heap. Empty when it is all zero. */
typedef struct agenda_t {
    agenda_event_t entries[AGENDA_MOST]; /* the first one is the next */
    int count;
    uint64_t seq;
} agenda_t;

void agenda_add(agenda_t *agenda, double at, int what, int idx);

/** @return the next event, which must exist. */
agenda_event_t agenda_take(agenda_t *agenda);

typedef struct chance_t {
    uint64_t state; /* the seed */
} chance_t;

/** @return a number from 0 to less than 1. */
double chance_of_one(chance_t *chance);
double chance_exponential(chance_t *chance, double mean);

/** @a cv is the standard deviation over the mean. */
double chance_lognormal(chance_t *chance, double mean, double cv);

#endif
