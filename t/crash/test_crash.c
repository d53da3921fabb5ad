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

#include "../unit/test_support.h"
#include "test_scenes.h"

WITH_FLOWS_TOO;

static adm_child_t *survivor;

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

    has_keys = uses_flows;
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
    ck_assert_msg(was_killed(end_of(victim)), "%s was not reached", scene->name);
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
    share_again(survivor);

    /* The permit is where it belongs. */
    ck_assert_uint_eq(active_in(zone), scene->is_held || is_in_line);
    ck_assert_uint_eq(queued_in(zone), scene->is_held && is_in_line);
    if (scene->is_held) {
        ck_assert(adm_ticket_is_granted(&held));
        leave(&held);
    }
    if (is_in_line) {
        ck_assert(adm_ticket_is_granted(&awaited));
        ck_assert_int_eq(wait_until(&awaited, 0), ADM_WAITED);
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

        ck_assert_int_eq(state, idx == survivor->idx ? ADM_LIFE_LIVE : ADM_LIFE_FREE);
    }
    ck_assert_uint_eq(atomic_load(&segment->header->workers_held), 0);
}

TESTS(a_death_is_mended, 0, scene_count)
{
    if (scenes[_i].needs_flows) {
        uses_flows = true;
        make_segment(8, 8, 256);
    }
    play_scene(&scenes[_i]);
    survive_scene(&scenes[_i]);
    assert_survivor_is_alone();
}

TEST(every_point_has_its_scene)
{
    int at, n;

    for (at = ADM_FAULT_none + 1; at < ADM_FAULT_end; at++) {
        for (n = 0; n < scene_count && (int)scenes[n].point != at; n++) {
        }
        ck_assert_msg(n < scene_count, "nobody dies at %s", adm_fault_name((adm_fault_t)at));
    }
}

/* Another one dies while it mends the first death: at each point that it gets
 * to. Loop test over the points; each has to be reached in some scene. */
TESTS(a_second_death_during_the_repair_is_mended, 1, ADM_FAULT_end)
{
    adm_fault_t second = (adm_fault_t)_i;
    bool is_with_flows = uses_flows;
    int n, reached = 0;

    for (n = 0; n < scene_count; n++) {
        uses_flows = is_with_flows || scenes[n].needs_flows || is_of_flows(second);
        make_segment(2, 8, 128);
        memset(shared, 0, SHARED_WORDS * sizeof(*shared));
        play_scene(&scenes[n]);
        point = second;
        reached += was_killed(play(do_everything, NULL));
        survive_scene(&scenes[n]);
        assert_survivor_is_alone();
        assert_segment_consistent();
    }
    printf("# a second death at %s: reached in %d of %d scenes\n", adm_fault_name(second), reached,
           scene_count);
    ck_assert_int_gt(reached, 0);
}

/* A whole row of children dies one after the other, each at a point of the
 * repair that the ones before left to it. */
TEST(any_number_of_deaths_is_mended)
{
    const char *given = getenv("SEED");
    unsigned seed = given ? (unsigned)strtoul(given, NULL, 0) : (unsigned)adm_now();
    unsigned row, n, killed = 0;

    printf("# SEED=%u\n", seed);
    for (row = 0; row < 40; row++) {
        const scene_t *scene = &scenes[(unsigned)rand_r(&seed) % scene_count];

        uses_flows = scene->needs_flows || rand_r(&seed) % 2;
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
