/* test_crash.c - a process is killed at each fault point, another one repairs. A victim that
 * reaches the end of its story fails the test.
 */
#include <signal.h>
#include <stdlib.h>

#include "test_scenes.h"

WITH_FLOWS_TOO;

static bool was_killed(int end)
{
    ck_assert_msg(end == 0 || end == -SIGKILL, "a story went wrong: %d", end);
    return end == -SIGKILL;
}

/* Play the scene up to and with the death of its victim. */
static void play_scene(const scene_t *scene)
{
    pid_t victim;

    set_stage(scene);
    point = scene->point;
    victim = start(scene->victim, NULL);
    follow(scene);
    ck_assert_msg(was_killed(end_of(victim)), "%s was not reached", scene->name);
}

/* Nor is a worker left: none was taken. */
static void survive_all(const scene_t *scene)
{
    survive(scene, 0);
    ck_assert_uint_eq(atomic_load(&segment->header->workers_held), 0);
}

TESTS(a_death_is_mended, 0, scene_count)
{
    if (scenes[_i].needs_flows) {
        uses_flows = true;
        make_segment(8, 8, 256);
    }
    play_scene(&scenes[_i]);
    survive_all(&scenes[_i]);
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
        play_scene(&scenes[n]);
        point = second;
        reached += was_killed(play(do_everything, NULL));
        survive_all(&scenes[n]);
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
        play_scene(scene);
        for (n = 0; n < 8; n++) {
            point = 1 + (unsigned)rand_r(&seed) % (ADM_FAULT_end - 1);
            killed += was_killed(play(do_everything, NULL));
        }
        survive_all(scene);
    }
    printf("# %u more deaths\n", killed);
}
