/* test_scenes.h - where processes are killed, and in which story.
 *
 * The test's own process is the survivor: a child that already lives when the victim dies.
 * Around the victim there may be a holder of the only permit and somebody in line; both are
 * tickets of the survivor.
 */
#ifndef TEST_SCENES_H
#define TEST_SCENES_H

#include "../unit/test_support.h"

/** The next victim dies at this point of its story; or if it is traced, it is stopped
 *  where it would arm, and each instruction counts from there. */
extern adm_fault_t point;
extern bool is_traced;
void arm(void);

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

#define FREE .limit = 1
#define HELD .limit = 1, .is_held = true
#define HELD_AND_AWAITED .limit = 1, .is_held = true, .is_awaited = true
#define PARALLEL .limit = 1, .is_parallel = true
#define AWAITED .limit = 0, .is_awaited = true

extern const scene_t scenes[];
extern const int scene_count;

/** @return whether only zones with flows have this point. */
bool is_of_flows(adm_fault_t at);

/** For a second death: whatever a child or the agent does, from its first
 *  moment. */
int do_everything(void *unused);

/* Stories of victims. */
int enter_and_leave(void *unused);
int enter_and_cancel(void *unused);
int enter_and_leave_to_others(void *unused);
int hand_over(void *unused);
int move_on(void *unused);
int register_only(void *unused);
int audit_and_audit(void *unused);

/** In the story of one that runs in parallel: until somebody stands behind it. */
void wait_for_another(void);

/* And of those who die before. */
int die_with_ticket(void *unused);
int die_with_program(void *unused);
int die_inside_the_lock(void *unused);

extern adm_child_t *survivor;
extern adm_ticket_t held, awaited;

/** All that there is before the victim starts. */
void set_stage(const scene_t *scene);

/** Get in line while the victim runs, if that is so in this scene. */
void follow(const scene_t *scene);

/** What has to be so after any death; @a change: of the segment, for messages. */
void survive(const scene_t *scene, unsigned change);

#endif
