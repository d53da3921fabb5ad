/* test_crash.c - a process is killed at each fault point that it reaches, another one repairs. */
#include <stdio.h>
#include <stdlib.h>

#include "scenes.h"

WITH_FLOWS_TOO;

#define ANY_POINT ADM_FAULT_end

static bool was_killed(int end)
{
    ck_assert_msg(end == 0 || end == -SIGKILL, "a story went wrong: %d", end);
    return end == -SIGKILL;
}

/* Play the scene until its victim dies at the nth point that it reaches, or has ended.
 * @return whether it died. */
static bool play_scene(const scene_t *scene, unsigned at)
{
    pid_t victim;

    make_segment(2, 4, 128);
    set_stage(scene);
    aim(ANY_POINT, at);
    victim = start(scene->victim, NULL);
    follow(scene);
    return was_killed(end_of(victim));
}

/* Nor is a worker left: none was taken. */
static void survive_all(const scene_t *scene, unsigned at)
{
    survive(scene, at);
    ck_assert_uint_eq(atomic_load(&segment->header->workers_held), 0);
}

/* Another one dies at this point, if it gets there. */
static bool die_again(adm_fault_t at)
{
    aim(at, 1);
    return was_killed(play(do_everything, NULL));
}

/* At each point that the victim reaches. */
TESTS(a_death_is_mended, 0, scene_count)
{
    const scene_t *scene = &scenes[_i];
    unsigned at = 0;
    bool is_dead;

    do {
        is_dead = play_scene(scene, ++at);
        survive_all(scene, at);
    } while (is_dead);
    ck_assert_uint_gt(at, 1);
}

/* All pairs of points would take minutes: each third one, or all if few are reached so. */
enum { STRIDE = 3, FEW = 10 };

/* Another one dies while it mends the first death: at each point that it gets to. Loop test
 * over the points; each has to be reached in some scene. */
TESTS(a_second_death_during_the_repair_is_mended, 1, ADM_FAULT_end)
{
    adm_fault_t second = (adm_fault_t)_i;
    int n, stride, deaths = 0, reached = 0;
    unsigned at;

    if (second >= ADM_FAULT_ask_filled && !uses_flows) {
        return; /* only zones with flows have it */
    }
    for (stride = STRIDE; stride > 0 && reached < FEW; stride -= STRIDE - 1) {
        for (n = 0; n < scene_count; n++) {
            for (at = 1 + (unsigned)((n + _i) % stride); play_scene(&scenes[n], at); at += stride) {
                deaths++;
                reached += die_again(second);
                survive_all(&scenes[n], at);
            }
            survive_all(&scenes[n], at);
        }
    }
    printf("# a second death at %s: reached after %d of %d deaths\n", adm_fault_name(second),
           reached, deaths);
    ck_assert_int_gt(reached, 0);
}

/* A whole row of children dies one after the other, each at a point of the
 * repair that the ones before left to it. */
TEST(any_number_of_deaths_is_mended)
{
    unsigned seed = seed_or((unsigned)adm_now()), row, n, killed = 0;

    for (row = 0; row < 40; row++) {
        const scene_t *scene = &scenes[(unsigned)rand_r(&seed) % scene_count];

        uses_flows = rand_r(&seed) % 2;
        play_scene(scene, 1 + (unsigned)rand_r(&seed) % 8);
        for (n = 0; n < 8; n++) {
            killed += die_again(1 + (unsigned)rand_r(&seed) % (ADM_FAULT_end - 1));
        }
        survive_all(scene, 0);
    }
    printf("# %u more deaths\n", killed);
}
