/* test_scenes.h - where processes are killed, and in which story. */
#ifndef TEST_SCENES_H
#define TEST_SCENES_H

#include <stdbool.h>
#include <stdint.h>

#include "../unit/test_support.h"

/** The next victim dies at this point of its story. */
extern adm_fault_t point;

/** From now on. */
void arm(void);

/** An administrator has the zone at 1, and opens it. */
bool order_one(adm_child_t *child);
int override_limit(void *unused);

/** What the agent does with a limit that finds itself. */
void tune(adm_child_t *child);
int tune_only(void *unused);

/** What the agent does with a share of a limit over servers. */
bool share(adm_child_t *child);
int share_lowered(void *unused);

/** What the next agent does, if the zone is still shared. */
void share_again(adm_child_t *child);

int share_granted(void *unused);
int share_awaited(void *unused);
int sharers_noted(void *unused);

typedef struct scene_t {
    const char *name;
    adm_fault_t point;
    story_t before; /* dies on its own before the victim; or NULL */
    story_t victim;
    bool is_held;     /* the survivor holds the permit all the while */
    bool is_awaited;  /* the survivor stands in line */
    bool is_parallel; /* the survivor gets in line while the victim runs */
    uint32_t limit;
    bool needs_flows; /* in a zone without them it is not reached */
} scene_t;

/** @return whether only zones with flows have this point. */
bool is_of_flows(adm_fault_t at);

extern const scene_t scenes[];
extern const int scene_count;

/** For a second death: whatever a child or the agent does, from its first
 *  moment. */
int do_everything(void *unused);

#endif
