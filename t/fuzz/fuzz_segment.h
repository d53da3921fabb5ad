/* fuzz_segment.h - a small segment that somebody hostile writes into. */
#ifndef FUZZ_SEGMENT_H
#define FUZZ_SEGMENT_H

#include "core/adm_layout.h"
#include "fuzz.h"

enum { ZONES = 4, CHILDREN = 4, TICKETS = 128 };

/** No story is longer. */
#define MOST_STEPS 400

typedef struct world_t {
    apr_pool_t *pool;
    adm_segment_t *segment;
    adm_segment_t handle; /* as it was made: no bytes of a child change it */
} world_t;

void begin_world(world_t *world);

void end_world(world_t *world);

/** The private memory is as it was made. */
void check_handle(const world_t *world);

/** Write what the input says where it says. */
void scribble(const world_t *world, input_t *input);

/** From now on it is an error to take a lock. */
void forbid_locks(bool are_forbidden);

#endif
