/* test_law_tune_scenarios.c - `MaxConcurrent auto` on a simulated server.
 *
 * Each scenario has bounds that the law keeps with every seed. A law with one of
 * its parts switched off breaks the bounds of the scenario that the part is for.
 */
#include "test_scenario.h"
#include "test_support.h"

enum { SEEDS = 2 };

#define MAY(condition, ...)                   \
    do {                                      \
        if (!(condition)) {                   \
            snprintf(why, size, __VA_ARGS__); \
            return false;                     \
        }                                     \
    } while (0)

/* @return whether the bounds of one window are kept. */
static bool keeps_window(const scenario_t *scenario, uint64_t seed, int w,
                         const world_result_t *result, char *why, size_t size)
{
    static world_result_t best;
    const scenario_window_t *window = &scenario->windows[w];
    double limit = world_limit(result, window->from, window->until);
    double rate = world_rate(result, window->from, window->until);
    double best_rate;
    int after;

    scenario_run_fixed(scenario, seed, window->best, &best);
    best_rate = world_rate(&best, window->from, window->until);
    MAY(rate >= scenario->part[w] * best_rate, "rate %.2f of %.2f", rate, best_rate);
    MAY(limit <= scenario->most[w], "mean limit %.1f", limit);
    if (w == 0 && scenario->seconds_to >= 0) {
        after = world_seconds_to(result, best_rate, 0, window->until);
        MAY(after >= 0 && after <= scenario->seconds_to, "95 %% after %d s", after);
    }
    return true;
}

static bool keeps_bounds(const scenario_t *scenario, uint64_t seed, uint32_t off, char *why,
                         size_t size)
{
    static world_result_t result;

    scenario_run(scenario, seed, off, &result);
    MAY(result.thrash <= scenario->thrash, "%.2f s of thrash", result.thrash);
    MAY(result.changes <= scenario->changes, "%d changes of the limit", result.changes);
    return keeps_window(scenario, seed, 0, &result, why, size)
           && (!scenario->windows[1].until || keeps_window(scenario, seed, 1, &result, why, size));
}

TEST(the_law_keeps_the_bounds_of_each_scenario)
{
    const scenario_t *scenario;
    char why[100];
    uint64_t seed;

    for (scenario = scenarios; scenario->name; scenario++) {
        for (seed = 1; seed <= SEEDS; seed++) {
            ck_assert_msg(keeps_bounds(scenario, seed, 0, why, sizeof(why)), "%s, seed %d: %s",
                          scenario->name, (int)seed, why);
        }
    }
}

/* @return whether a part can be missed with every seed. */
static bool can_miss(const scenario_t *scenario)
{
    char why[100];
    uint64_t seed;

    for (seed = 1; seed <= SEEDS; seed++) {
        if (!keeps_bounds(scenario, seed, scenario->needs, why, sizeof(why))) {
            return false;
        }
    }
    return true;
}

TEST(a_law_without_one_of_its_parts_breaks_a_bound)
{
    const scenario_t *scenario;
    uint32_t missed = 0;

    for (scenario = scenarios; scenario->name; scenario++) {
        missed |= scenario->needs;
        ck_assert_msg(!scenario->needs || !can_miss(scenario), "%s goes well without part %#x",
                      scenario->name, scenario->needs);
    }
    ck_assert_uint_eq(missed, LAW_TUNE_NO_PARTS);
}

TEST(one_seed_is_one_run)
{
    const scenario_t *scenario = scenario_called("memory-mix");
    static world_result_t one, other;

    scenario_run(scenario, 7, 0, &one);
    scenario_run(scenario, 7, 0, &other);
    ck_assert_mem_eq(&one, &other, sizeof(one));
    scenario_run(scenario, 8, 0, &other);
    ck_assert_mem_ne(&one, &other, sizeof(one));
}
