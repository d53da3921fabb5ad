/* test_crash.c - a process is killed at each fault point, another one repairs.
 *
 * The test's own process is the survivor: a child that already lives when the
 * victim dies. Around the victim there may be a holder of the only permit and
 * somebody in line; both are tickets of the survivor. A victim that reaches the
 * end of its story fails the test.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../unit/test_support.h"
#include "adm_agent.h"
#include "adm_limit.h"
#include "adm_zone.h"

static adm_zone_t zone;
static adm_child_t *survivor;

/* ---- stories of victims -------------------------------------------------- */

/* Die at this point of the story. */
static adm_fault_t point;

static void arm(void)
{
    adm_fault_arm(point, 1);
}

/* Until a program that is not there counts as gone. */
static void audit_for_seconds(adm_child_t *child)
{
    adm_round(child, adm_now(), true);
    adm_round(child, adm_now() + ADM_USEC_PER_SEC, true);
    adm_round(child, adm_now() + 2 * ADM_USEC_PER_SEC, true);
}

static int enter_and_leave(void *unused)
{
    adm_child_t *child = join();
    adm_ticket_t ticket;

    (void)unused;
    NEED(child != NULL);
    arm();
    NEED(enter(child, zone, &ticket) == ADM_ADMITTED);
    leave(&ticket);
    return 0;
}

static int enter_and_wait(void *unused)
{
    adm_child_t *child = join();
    adm_ticket_t ticket;

    (void)unused;
    NEED(child != NULL);
    arm();
    NEED(enter(child, zone, &ticket) == ADM_WAITING);
    NEED(adm_ticket_wait(&ticket, NEVER) == ADM_WAITED);
    return 0;
}

static int enter_and_cancel(void *unused)
{
    adm_child_t *child = join();
    adm_ticket_t ticket;

    (void)unused;
    NEED(child != NULL);
    NEED(enter(child, zone, &ticket) == ADM_WAITING);
    arm();
    adm_ticket_cancel(&ticket, ADM_GONE, adm_now());
    return 0;
}

/* Holds the permit until somebody stands behind it. */
static int hand_over(void *unused)
{
    adm_child_t *child = join();
    adm_ticket_t ticket;

    (void)unused;
    NEED(child != NULL);
    NEED(enter(child, zone, &ticket) == ADM_ADMITTED);
    atomic_store(&shared[0], 1);
    NEED_SOON(queued_in(zone) > 0);
    arm();
    leave(&ticket);
    return 0;
}

/* Wins, begins, and leaves. */
static int begin_and_leave(void *unused)
{
    adm_child_t *child = join();
    adm_ticket_t before, ticket;

    (void)unused;
    enter(child, zone, &before);
    enter(child, zone, &ticket);
    leave(&before);
    arm();
    NEED(adm_ticket_begin(&ticket, adm_now()));
    leave(&ticket);
    return 0;
}

/* Gets what somebody before it won. */
static int pass_on(void *unused)
{
    adm_child_t *child = join();
    adm_ticket_t ticket;

    (void)unused;
    enter(child, zone, &ticket);
    adm_limit_set(rec_of_zone(zone), ADM_LIMIT_CONFIGURED, 1);
    adm_round(child, adm_now(), true);
    arm();
    adm_lease_look(child, zone, adm_now() + ADM_LEASE_USEC);
    return 0;
}

static int raise_limit(void *unused)
{
    adm_child_t *child = join();

    (void)unused;
    NEED(child != NULL);
    arm();
    adm_limit_set(rec_of_zone(zone), ADM_LIMIT_CONFIGURED, 1);
    adm_round(child, adm_now(), true);
    return 0;
}

/* Its zone cannot be locked when it leaves, here because it is locked already. */
static void leave_without_lock(adm_child_t *child, adm_ticket_t *ticket)
{
    adm_zone_rec_t *rec = rec_of_zone(zone);

    if (adm_lock_acquire(&rec->lock, NEVER) == ADM_LOCKED) {
        leave(ticket);
        adm_zone_unlock(child->segment, rec, adm_now());
    }
}

static int enter_and_leave_to_others(void *unused)
{
    adm_child_t *child = join();
    adm_ticket_t ticket;

    (void)unused;
    NEED(child != NULL);
    NEED(enter(child, zone, &ticket) == APR_SUCCESS);
    arm();
    leave_without_lock(child, &ticket);
    return 0;
}

/* Arms before it registers: the story is that, and what there is to mend. */
static int register_only(void *unused)
{
    (void)unused;
    arm();
    NEED(join() != NULL);
    return 0;
}

/* A program that is killed on its way takes its child along, as a kill of their
 * process group does. */
static void start_program_of(adm_ticket_t *ticket)
{
    pid_t program;

    adm_program_announce(ticket, ADM_START_HERE);
    program = fork();
    if (program == 0) {
        _exit(0);
    }
    if (end_of(program) == -SIGKILL) {
        kill(getpid(), SIGKILL);
    }
}

static int enter_with_program(void *unused)
{
    adm_child_t *child = join();
    adm_ticket_t ticket;

    (void)unused;
    NEED(child != NULL);
    arm();
    NEED(enter(child, zone, &ticket) == ADM_ADMITTED);
    start_program_of(&ticket);
    leave(&ticket);
    return 0;
}

/* The agent, with a permit that it never has: it has to be taken back. */
static int beat_only(void *unused)
{
    adm_child_t *child = join();
    adm_ticket_t ticket;

    (void)unused;
    NEED(child != NULL);
    NEED(enter(child, zone, &ticket) == ADM_ADMITTED);
    arm();
    adm_agent_beat(segment, adm_now());
    return 0;
}

/* For a second death: whatever a child or the agent does, from its first
 * moment. */
static int do_everything(void *unused)
{
    adm_child_t *child;
    adm_ticket_t ticket;
    adm_outcome_t outcome;

    (void)unused;
    arm();
    adm_agent_beat(segment, adm_now());
    adm_agent_gone(segment);
    child = join();
    NEED(child != NULL);
    audit_for_seconds(child);
    outcome = enter(child, zone, &ticket);
    NEED(outcome == ADM_ADMITTED || outcome == ADM_WAITING);
    if (outcome == ADM_WAITING) {
        adm_lease_look(child, zone, adm_now() + 10 * ADM_USEC_PER_SEC);
        adm_ticket_wait(&ticket, adm_now() + 1);
        adm_ticket_cancel(&ticket, ADM_GONE, adm_now());
    }
    start_program_of(&ticket);
    leave(&ticket);
    outcome = enter(child, zone, &ticket);
    NEED(outcome == ADM_ADMITTED || outcome == ADM_WAITING);
    leave_without_lock(child, &ticket);
    return 0;
}

static int die_with_permit(void *unused)
{
    adm_child_t *child = join();
    adm_ticket_t ticket;

    (void)unused;
    NEED(child != NULL);
    NEED(enter(child, zone, &ticket) == ADM_ADMITTED);
    kill(getpid(), SIGKILL);
    return 0;
}

static int die_with_program(void *unused)
{
    adm_child_t *child = join();
    adm_ticket_t ticket;

    (void)unused;
    NEED(child != NULL);
    NEED(enter(child, zone, &ticket) == ADM_ADMITTED);
    adm_program_announce(&ticket, ADM_START_HERE);
    kill(getpid(), SIGKILL);
    return 0;
}

/* Its program is gone before it begins. */
static int enter_again_with_program(void *unused)
{
    adm_child_t *child = join();
    adm_ticket_t running, waiting;

    (void)unused;
    NEED(child != NULL);
    NEED(enter(child, zone, &running) == ADM_ADMITTED);
    adm_program_announce(&running, ADM_START_HERE);
    arm();
    NEED(enter(child, zone, &waiting) == ADM_WAITING);
    return 0;
}

static int die_inside_the_lock(void *unused)
{
    adm_child_t *child = join();
    adm_ticket_t ticket;

    (void)unused;
    NEED(child != NULL);
    adm_fault_arm(ADM_FAULT_enter_stored, 1);
    enter(child, zone, &ticket);
    return 0;
}

static int audit_and_audit(void *unused)
{
    adm_child_t *child;

    (void)unused;
    arm();
    child = join();
    NEED(child != NULL);
    audit_for_seconds(child);
    return 0;
}

/* ---- the matrix ---------------------------------------------------------- */

typedef struct scene_t {
    const char *name;
    adm_fault_t point;
    story_t before; /* dies on its own before the victim; or NULL */
    story_t victim;
    bool is_held;     /* the survivor holds the permit all the while */
    bool is_awaited;  /* the survivor stands in line */
    bool is_parallel; /* the survivor gets in line while the victim runs */
    uint32_t limit;
} scene_t;

#define KILL(name) #name, ADM_FAULT_##name

static const scene_t scenes[] = {
    /* A permit is free. */
    { KILL(enter_locked), NULL, enter_and_leave, .limit = 1 },
    { KILL(enter_filled), NULL, enter_and_leave, .limit = 1 },
    { KILL(enter_stored), NULL, enter_and_leave, .limit = 1 },
    { KILL(enter_unlocked), NULL, enter_and_leave, .limit = 1 },
    { KILL(chunk_claimed), NULL, enter_and_leave, .limit = 1 },
    { KILL(leave_stored), NULL, enter_and_leave, .limit = 1 },
    { KILL(leave_unlinked), NULL, enter_and_leave, .limit = 1 },
    /* The only permit is held. */
    { KILL(enter_locked), NULL, enter_and_wait, .is_held = true, .limit = 1 },
    { KILL(enter_filled), NULL, enter_and_wait, .is_held = true, .limit = 1 },
    { KILL(enter_stored), NULL, enter_and_wait, .is_held = true, .limit = 1 },
    { KILL(enter_unlocked), NULL, enter_and_wait, .is_held = true, .limit = 1 },
    { KILL(wait_sleeping), NULL, enter_and_wait, .is_held = true, .limit = 1 },
    { KILL(cancel_stored), NULL, enter_and_cancel, .is_held = true,
      .limit = 1 },
    /* Held, and somebody stands in line before the victim. */
    { KILL(enter_stored), NULL, enter_and_wait, .is_held = true,
      .is_awaited = true, .limit = 1 },
    { KILL(cancel_stored), NULL, enter_and_cancel, .is_held = true,
      .is_awaited = true, .limit = 1 },
    /* The victim has the permit that the survivor waits for. */
    { KILL(leave_stored), NULL, hand_over, .is_parallel = true, .limit = 1 },
    { KILL(leave_unlinked), NULL, hand_over, .is_parallel = true, .limit = 1 },
    { KILL(grant_stored), NULL, hand_over, .is_parallel = true, .limit = 1 },
    { KILL(grant_unlocked), NULL, hand_over, .is_parallel = true, .limit = 1 },
    /* The victim wins. */
    { KILL(begin_stored), NULL, begin_and_leave, .limit = 1 },
    { KILL(grant_settled), NULL, begin_and_leave, .limit = 1 },
    { KILL(pass_marked), NULL, pass_on, .is_awaited = true, .limit = 0 },
    { KILL(pass_stored), NULL, pass_on, .is_awaited = true, .limit = 0 },
    /* A raised limit is handed out. */
    { KILL(grant_stored), NULL, raise_limit, .is_awaited = true, .limit = 0 },
    { KILL(grant_unlocked), NULL, raise_limit, .is_awaited = true, .limit = 0 },
    /* Somebody died before. */
    { KILL(rebuild_begun), die_inside_the_lock, register_only, .limit = 1 },
    { KILL(rebuild_counted), die_inside_the_lock, register_only, .limit = 1 },
    { KILL(rebuild_begun), die_inside_the_lock, register_only, .is_held = true,
      .limit = 1 },
    { KILL(rebuild_counted), die_inside_the_lock, register_only,
      .is_held = true, .is_awaited = true, .limit = 1 },
    { KILL(leave_stored), die_with_permit, register_only, .limit = 1 },
    { KILL(reap_freed), die_with_permit, register_only, .limit = 1 },
    { KILL(reap_done), die_with_permit, register_only, .limit = 1 },
    { KILL(reap_orphaned), die_with_program, audit_and_audit, .limit = 1 },
    { KILL(orphan_freed), die_with_program, audit_and_audit, .limit = 1 },
    { KILL(enter_locked), NULL, enter_again_with_program, .limit = 1 },
    { KILL(enter_unlocked), NULL, enter_again_with_program, .limit = 1 },
    { KILL(left_noted), NULL, enter_and_leave_to_others, .limit = 1 },
    { KILL(left_taken), NULL, enter_and_leave_to_others, .limit = 1 },
    { KILL(leave_stored), NULL, enter_and_leave_to_others, .limit = 1 },
    { KILL(program_forked), NULL, enter_with_program, .limit = 1 },
    { KILL(program_noted), NULL, enter_with_program, .limit = 1 },
    { KILL(agent_beat), NULL, beat_only, .limit = 1 },
    { KILL(child_claimed), NULL, register_only, .limit = 1 },
    { KILL(child_claimed), NULL, register_only, .is_held = true,
      .is_awaited = true, .limit = 1 },
};
#define SCENES (int)(sizeof(scenes) / sizeof(scenes[0]))

static adm_ticket_t held, awaited;

static bool was_killed(int end)
{
    ck_assert_msg(end == 0 || end == -SIGKILL, "a story went wrong: %d", end);
    return end == -SIGKILL;
}

/* Play the scene up to and with the death of its victim. */
static void play_scene(const scene_t *scene)
{
    pid_t victim;

    zone = zone_called("stage", scene->limit, 10);
    survivor = join();
    if (scene->is_held) {
        ck_assert_int_eq(enter(survivor, zone, &held), ADM_ADMITTED);
    }
    if (scene->is_awaited) {
        ck_assert_int_eq(enter(survivor, zone, &awaited), ADM_WAITING);
    }
    if (scene->before) {
        ck_assert_int_eq(play(scene->before, NULL), -SIGKILL);
    }
    point = scene->point;
    victim = start(scene->victim, NULL);
    if (scene->is_parallel) {
        WAIT_FOR(atomic_load(&shared[0]) == 1);
        ck_assert_int_eq(enter(survivor, zone, &awaited), ADM_WAITING);
    }
    ck_assert_msg(was_killed(end_of(victim)), "%s was not reached",
                  scene->name);
}

/* What has to be so after any death. Until an orphaned program is given up,
 * look around more than once. */
static void survive_scene(const scene_t *scene)
{
    bool is_in_line = scene->is_awaited || scene->is_parallel;
    adm_ticket_t next;
    int round;

    for (round = 0; round < 4; round++) {
        adm_round(survivor, adm_now() + round * ADM_USEC_PER_SEC, true);
    }
    ck_assert_ptr_null(adm_check(segment));

    /* The permit is where it belongs. */
    ck_assert_uint_eq(active_in(zone), scene->is_held || is_in_line);
    ck_assert_uint_eq(queued_in(zone), scene->is_held && is_in_line);
    if (scene->is_held) {
        ck_assert(adm_ticket_is_granted(&held));
        leave(&held);
    }
    if (is_in_line) {
        ck_assert(adm_ticket_is_granted(&awaited));
        ck_assert_int_eq(adm_ticket_wait(&awaited, 0), ADM_WAITED);
        leave(&awaited);
    }

    /* The next one finds a zone as if nothing had been. */
    ck_assert_uint_eq(active_in(zone), 0);
    zone_called("stage", 1, 10);
    ck_assert_int_eq(enter(survivor, zone, &next), ADM_ADMITTED);
    leave(&next);
}

/* The dead left nothing in the table of children but the survivor. */
static void assert_survivor_is_alone(void)
{
    uint32_t idx;

    for (idx = 1; idx <= segment->sizes.children; idx++) {
        enum adm_life_state_t state = adm_life_state(
            atomic_load(&adm_child_at(segment, idx)->life));

        ck_assert_int_eq(state,
                         idx == survivor->idx ? ADM_LIFE_LIVE : ADM_LIFE_FREE);
    }
    ck_assert_uint_eq(atomic_load(&segment->header->workers_held), 0);
}

START_TEST(a_death_is_mended)
{
    play_scene(&scenes[_i]);
    survive_scene(&scenes[_i]);
    assert_survivor_is_alone();
    assert_segment_consistent();
}
END_TEST

START_TEST(every_point_has_its_scene)
{
    int at, n;

    for (at = ADM_FAULT_none + 1; at < ADM_FAULT_end; at++) {
        for (n = 0; n < SCENES && (int)scenes[n].point != at; n++) {
        }
        ck_assert_msg(n < SCENES, "nobody dies at %s",
                      adm_fault_name((adm_fault_t)at));
    }
    assert_segment_consistent();
}
END_TEST

/* Another one dies while it mends the first death: at each point that it gets
 * to. Loop test over the points; each has to be reached in some scene. */
START_TEST(a_second_death_during_the_repair_is_mended)
{
    adm_fault_t second = (adm_fault_t)_i;
    int n, reached = 0;

    for (n = 0; n < SCENES; n++) {
        make_segment(2, 8, 128);
        memset(shared, 0, SHARED_WORDS * sizeof(*shared));
        play_scene(&scenes[n]);
        point = second;
        reached += was_killed(play(do_everything, NULL));
        survive_scene(&scenes[n]);
        assert_survivor_is_alone();
        assert_segment_consistent();
    }
    printf("# a second death at %s: reached in %d of %d scenes\n",
           adm_fault_name(second), reached, SCENES);
    ck_assert_int_gt(reached, 0);
}
END_TEST

/* A whole row of children dies one after the other, each at a point of the
 * repair that the ones before left to it. */
START_TEST(any_number_of_deaths_is_mended)
{
    const char *given = getenv("SEED");
    unsigned seed = given ? (unsigned)strtoul(given, NULL, 0)
                          : (unsigned)adm_now();
    unsigned row, n, killed = 0;

    printf("# SEED=%u\n", seed);
    for (row = 0; row < 40; row++) {
        const scene_t *scene = &scenes[(unsigned)rand_r(&seed) % SCENES];

        make_segment(2, 4, 128);
        memset(shared, 0, SHARED_WORDS * sizeof(*shared));
        play_scene(scene);
        for (n = 0; n < 8; n++) {
            point = 1 + (unsigned)rand_r(&seed) % (ADM_FAULT_end - 1);
            killed += was_killed(play(do_everything, NULL));
        }
        survive_scene(scene);
        assert_survivor_is_alone();
        assert_segment_consistent();
    }
    printf("# %u more deaths\n", killed);
}
END_TEST

static void add_stories(TCase *stories)
{
    tcase_add_test(stories, every_point_has_its_scene);
    tcase_add_loop_test(stories, a_death_is_mended, 0, SCENES);
    tcase_add_loop_test(stories, a_second_death_during_the_repair_is_mended, 1,
                        ADM_FAULT_end);
    tcase_add_test(stories, any_number_of_deaths_is_mended);
}

int main(void)
{
    return run_stories("crash", add_stories);
}
