/* scenes.h - the stories in which processes are killed, and what others do after.
 *
 * The test's own process is the survivor: a child that already lives when the victim dies.
 * Around the victim there may be a holder of the only permit and somebody in line; both are
 * tickets of the survivor.
 */
#ifndef SCENES_H
#define SCENES_H

#include "../unit/test_support.h"

/** In the story of a victim: its next fault points count. If it is traced, it is stopped here,
 *  and each instruction counts. */
void arm(void);
extern bool is_traced;

/** The next victim that is not traced dies when it reaches this point for the nth time. */
void aim(adm_fault_t point, unsigned nth);

typedef struct scene_t {
    const char *name; /* what the victim does */
    story_t before;   /* dies on its own before the victim; or NULL */
    story_t victim;
    bool is_held;     /* the survivor holds the permit all the while */
    bool is_awaited;  /* the survivor stands in line */
    bool is_parallel; /* the survivor gets in line while the victim runs */
    uint32_t limit;
    bool has_stores, has_stores_to_flows; /* test_step kills at each store; with flows, too */
} scene_t;

#define FREE .limit = 1
#define HELD .limit = 1, .is_held = true
#define HELD_AND_AWAITED .limit = 1, .is_held = true, .is_awaited = true
#define PARALLEL .limit = 1, .is_parallel = true
#define AWAITED .limit = 0, .is_awaited = true

#define STORES .has_stores = true
#define STORES_TO_FLOWS STORES, .has_stores_to_flows = true

extern const scene_t scenes[];
extern const int scene_count;

/** A victim for a second death: whatever a child or the agent does, from its first moment. */
int do_everything(void *unused);

extern adm_child_t *survivor;
extern adm_ticket_t held, awaited;

/** All that there is before the victim starts. */
void set_stage(const scene_t *scene);

/** Get in line while the victim runs, if that is so in this scene. */
void follow(const scene_t *scene);

/** The agent applies the share of the zone again, if it is shared. */
void share_again(adm_child_t *child);

/** What has to be so after any death; @a change: the point, or the change of the segment,
 *  for messages. */
void survive(const scene_t *scene, unsigned change);

#endif
