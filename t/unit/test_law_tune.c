/* test_law_tune.c - the law of `MaxConcurrent auto`, step by step. */
#include <math.h>
#include <string.h>

#include "auto/law_tune.h"
#include "test_support.h"

#define MB 1024u

/* A machine of 2 processors and 1 GB that a zone keeps busy. */
typedef struct bench_t {
    law_tune_t tune;
    law_tune_rules_t rules;
    law_tune_sample_t sample;
    uint32_t rss_kb[64];
} bench_t;

static bench_t bench;

static void begin(uint32_t min, uint32_t max)
{
    memset(&bench, 0, sizeof(bench));
    bench.rules = (law_tune_rules_t){ min, max };
    law_tune_off = 0;
    bench.sample.now_usec = 1000 * ADM_USEC_PER_SEC;
    bench.sample.cores = 2;
    bench.sample.total_kb = bench.sample.available_kb = 1024 * MB;
    bench.sample.waited_permille = 1000;
    bench.sample.rss_kb = bench.rss_kb;
}

/* With state from before a restart. */
static void begin_with(uint32_t min, uint32_t max, uint32_t limit, uint32_t need_kb,
                       uint32_t largest_kb)
{
    begin(min, max);
    law_tune_remember(&bench.tune, limit, need_kb, largest_kb);
}

/* Take the next sample. Counters restart, measurements stay. */
static uint32_t look(void)
{
    law_tune_sample_t *sample = &bench.sample;

    sample->now_usec += LAW_TUNE_SAMPLE_USEC;
    sample->limit = law_tune(&bench.tune, &bench.rules, sample);
    sample->served = sample->ended = sample->peak_largest_kb = 0;
    sample->service_usec = sample->service_square_ms2 = 0;
    sample->peak_kb = sample->peak_square_kb2 = 0;
    return sample->limit;
}

static uint32_t look_for(double seconds)
{
    int glances = (int)(seconds * ADM_USEC_PER_SEC / LAW_TUNE_SAMPLE_USEC + .5);

    while (glances-- > 0) {
        look();
    }
    return bench.sample.limit;
}

/* This number of programs runs, each of this size. */
static void run_programs(uint32_t count, uint32_t mb)
{
    uint32_t i;

    bench.sample.active = bench.sample.programs = count;
    for (i = 0; i < count; i++) {
        bench.rss_kb[i] = mb * MB;
    }
    bench.sample.available_kb = count * mb >= 1024 ? 0 : (uint64_t)(1024 - count * mb) * MB;
}

/* A request of half a second has ended, and its program. */
static void end_program_of(uint32_t mb)
{
    law_tune_sample_t *sample = &bench.sample;
    uint64_t kb = (uint64_t)mb * MB;

    sample->served++;
    sample->service_usec += ADM_USEC_PER_SEC / 2;
    sample->service_square_ms2 += 500 * 500;
    sample->ended++;
    sample->peak_kb += kb;
    sample->peak_square_kb2 += kb * kb;
    sample->peak_largest_kb = kb;
}

/* ---- memory ------------------------------------------------------------------- */

TEST(the_first_program_runs_alone_until_its_size_is_known)
{
    begin(1, 50);
    ck_assert_uint_eq(look(), 1);
    run_programs(1, 50);
    ck_assert_uint_eq(look_for(0.5), 1);
    run_programs(1, 200);
    ck_assert_uint_eq(look_for(0.9), 1);
    ck_assert_uint_eq(law_tune_show(&bench.tune, 0).reason, LAW_TUNE_START);
    ck_assert_uint_eq(look_for(0.5), 2);
    ck_assert_uint_eq(law_tune_show(&bench.tune, 0).program_mb, 200);
}

TEST(memory_has_room_for_as_many_as_their_peaks_allow)
{
    begin_with(1, 50, 50, 206 * MB, 207 * MB);
    law_tune_off = LAW_TUNE_NO_RAMP;
    /* 1024 MB less a reserve of 51: 4 of 206. */
    ck_assert_uint_eq(look_for(0.5), 4);
    ck_assert_uint_eq(bench.tune.reason, LAW_TUNE_MEMORY);
    ck_assert_uint_eq(law_tune_show(&bench.tune, 0).memory_cap, 4);
    ck_assert_uint_eq(law_tune_show(&bench.tune, 0).budget_mb, 972);
}

TEST(a_program_of_a_new_kind_stops_the_start_of_others_at_the_next_glance)
{
    begin_with(1, 50, 20, 10 * MB, 12 * MB);
    run_programs(20, 10);
    ck_assert_uint_eq(look_for(1), 20);
    bench.rss_kb[0] = 30 * MB;
    ck_assert_uint_eq(look(), 1);
    ck_assert_uint_eq(bench.tune.reason, LAW_TUNE_NEW);
    bench.rss_kb[0] = 200 * MB;
    ck_assert_uint_eq(look_for(0.9), 1);
    /* The program has stopped growing: the next ones are expected to have its size. */
    ck_assert_uint_ge(look_for(0.5), 3);
    ck_assert_uint_ge(law_tune_show(&bench.tune, 0).largest_mb, 199);
    ck_assert_uint_eq(law_tune_show(&bench.tune, 0).program_mb, 200);
}

TEST(a_large_program_that_stays_is_a_surprise_once)
{
    int glances;

    begin_with(1, 50, 10, 10 * MB, 12 * MB);
    run_programs(10, 10);
    bench.rss_kb[0] = 300 * MB;
    look_for(2);
    for (glances = 0; glances < 3600 * 20; glances++) {
        if (glances % 20 == 0) {
            end_program_of(10);
        }
        look();
        ck_assert_uint_ne(bench.tune.reason, LAW_TUNE_NEW);
    }
}

/* ---- the brake ------------------------------------------------------------------ */

/* Eight programs of 200 MB in a control group of 1,024 MB, four of which were
 * started at 0: the readings in samples of 50 ms. */
static const struct {
    uint32_t used_mb;
    uint32_t stall_permille;
} cliff[] = {
    { 715, 0 },    { 720, 0 },    { 850, 0 },     { 1010, 0 },    { 1024, 30 },
    { 1024, 990 }, { 1024, 990 }, { 1024, 1000 }, { 1024, 1000 }, { 1024, 1000 },
};

TEST(at_the_cliff_the_brake_acts_within_a_tick)
{
    size_t i;

    begin_with(1, 50, 8, 0, 0);
    bench.sample.active = 8;
    look_for(1);
    for (i = 0; i < COUNT(cliff); i++) {
        bench.sample.available_kb = (uint64_t)(1024 - cliff[i].used_mb) * MB;
        bench.sample.stall_permille = cliff[i].stall_permille;
        look();
        if (cliff[i].stall_permille < 100) {
            ck_assert_uint_eq(bench.sample.limit, 8);
        }
    }
    ck_assert_uint_eq(bench.sample.limit, 5);
    ck_assert_uint_eq(bench.tune.reason, LAW_TUNE_BRAKE);
    /* Each second less, down to the minimum, as long as the stalls last. */
    ck_assert_uint_eq(look_for(1), 4);
    bench.sample.active = 4;
    ck_assert_uint_eq(look_for(1), 2);
    ck_assert_uint_eq(look_for(10), 1);
    ck_assert_uint_eq(law_tune_show(&bench.tune, 0).brakes, 1);
}

TEST(the_limit_returns_after_a_back_off)
{
    begin_with(1, 50, 20, 0, 0);
    bench.sample.active = 20;
    look_for(1);
    bench.sample.available_kb = 0;
    bench.sample.stall_permille = 900;
    ck_assert_uint_eq(look_for(0.5), 14);
    bench.sample.stall_permille = 0;
    bench.sample.active = 14;
    ck_assert_uint_eq(look_for(1.5), 14);
    /* Half way to where it failed, less one. */
    ck_assert_uint_eq(look_for(1.5), 17);
}

TEST(a_brake_never_raises_the_limit_in_force)
{
    begin_with(1, 50, 24, 0, 0);
    bench.sample.active = 24;
    look_for(1);
    bench.sample.limit = 4;
    bench.sample.stall_permille = 900;
    ck_assert_uint_eq(look(), 3);
}

TEST(stalls_that_are_not_ours_do_not_keep_the_limit_down)
{
    begin_with(1, 50, 20, 10 * MB, 10 * MB);
    run_programs(20, 10);
    look_for(1);
    bench.sample.stall_permille = 500;
    look_for(5);
    ck_assert_uint_lt(bench.sample.limit, 20);
    ck_assert_uint_eq(look_for(10), 20);
    /* A pause does not change that, scarce memory does. */
    bench.sample.stall_permille = 0;
    ck_assert_uint_eq(look_for(5), 20);
    bench.sample.stall_permille = 500;
    ck_assert_uint_eq(look_for(5), 20);
    bench.sample.available_kb = 10 * MB;
    look_for(1);
    ck_assert_uint_lt(bench.sample.limit, 20);
}

/* ---- bounds and garbage ------------------------------------------------------------ */

TEST(a_minimum_that_is_raised_is_where_the_search_goes_on)
{
    int glances;

    begin_with(1, 50, 2, 0, 0);
    ck_assert_uint_eq(look_for(1), 2);
    bench.rules.min = 4;
    for (glances = 0; glances < 20 * 60; glances++) {
        bench.sample.active = bench.sample.served = bench.sample.limit;
        bench.sample.service_usec = 50000ull * bench.sample.limit;
        look();
    }
    /* Each additional permit serves more. */
    ck_assert_uint_eq(bench.sample.limit, 50);
}

/* Requests take 50 ms, whatever the limit is: a higher one serves no more. */
static uint32_t trial_after(unsigned glances)
{
    while (glances-- > 0) {
        bench.sample.active = bench.sample.limit;
        bench.sample.served = 4;
        bench.sample.service_usec = 4 * 50000;
        look();
    }
    return law_tune_show(&bench.tune, 0).trial;
}

TEST(a_trial_during_which_no_request_waits_is_soon_repeated)
{
    begin_with(1, 50, 20, 10 * MB, 10 * MB);
    ck_assert_uint_eq(trial_after(20 * 8), 25);
    bench.sample.waited_permille = 0;
    ck_assert_uint_eq(trial_after(20 * 6), 0);
    bench.sample.waited_permille = 1000;
    ck_assert_uint_eq(trial_after(20 * 4), 25);
}

TEST(a_limit_falls_as_long_as_a_lower_one_serves_as_much)
{
    begin_with(1, 50, 20, 10 * MB, 10 * MB);
    trial_after(20 * 120);
    ck_assert_uint_lt(bench.sample.limit, 10);
}

TEST(an_idle_zone_keeps_what_was_found)
{
    begin_with(1, 50, 20, 10 * MB, 10 * MB);
    law_tune_off = LAW_TUNE_NO_RAMP;
    bench.sample.waited_permille = 0;
    ck_assert_uint_eq(look_for(3600), 20);
    ck_assert_uint_eq(bench.tune.reason, LAW_TUNE_IDLE);
    ck_assert_uint_eq(law_tune_show(&bench.tune, bench.sample.now_usec).since_sec, 3600);
}

TEST(crossed_bounds_and_zeros_are_survived)
{
    begin(9, 4);
    ck_assert_uint_eq(look_for(1), 4);
    memset(&bench.rules, 0, sizeof(bench.rules));
    ck_assert_uint_eq(look_for(1), 1);
    memset(&bench, 0, sizeof(bench));
    ck_assert_uint_eq(look_for(1), 1);
}

TEST(a_state_that_is_garbage_goes_on_with_the_limit_in_force)
{
    static const double lies[] = { NAN, -NAN, INFINITY, -INFINITY, -1, 1e300 };
    law_tune_t *tune = &bench.tune;
    law_tune_memory_t *memory = &tune->memory;
    law_tune_search_t *search = &tune->search;
    double *const numbers[] = { &tune->now,
                                &tune->busy,
                                &tune->tick.sec,
                                &tune->tick.stall_sec,
                                &tune->brake.began,
                                &tune->brake.wait,
                                &memory->mean_kb,
                                &memory->variance,
                                &memory->inflation,
                                &memory->flat_kb,
                                &memory->surprise_kb,
                                &memory->batch_kb,
                                &memory->batch_largest,
                                &search->waited,
                                &search->epoch.sum.sec,
                                &search->reference.rate,
                                &search->lower.own,
                                &search->best_rate,
                                &search->next_up,
                                &search->down_wait };
    size_t i;

    for (i = 0; i < COUNT(lies) * COUNT(numbers); i++) {
        begin(1, 50);
        bench.sample.active = 17;
        if (i % 2) {
            law_tune_remember(tune, 30, 10 * MB, 10 * MB);
        }
        look();
        *numbers[i % COUNT(numbers)] = lies[i / COUNT(numbers)];
        bench.sample.limit = 17;
        ck_assert_uint_eq(look(), 17);
        ck_assert_uint_eq(look_for(0.5), 17);
    }
}

TEST(one_program_with_a_false_size_does_not_raise_the_limit)
{
    begin_with(1, 50, 50, 206 * MB, 207 * MB);
    law_tune_off = LAW_TUNE_NO_RAMP;
    look_for(1);
    end_program_of(0);
    ck_assert_uint_le(look_for(1), 9);
}

TEST(the_ramp_is_twice_what_runs_and_never_above)
{
    begin_with(1, 64, 64, 1 * MB, 1 * MB);
    ck_assert_uint_eq(look_for(0.5), 2);
    run_programs(2, 1);
    ck_assert_uint_eq(look_for(0.25), 4);
    run_programs(4, 1);
    ck_assert_uint_eq(look_for(0.25), 8);
}

static uint32_t below(uint32_t *seed, uint32_t most)
{
    *seed = *seed * 1664525 + 1013904223;
    return (*seed >> 8) % most;
}

static void shuffle_sample(uint32_t *seed)
{
    law_tune_sample_t *sample = &bench.sample;

    run_programs(below(seed, 40), below(seed, 60));
    while (below(seed, 4) > 0) {
        end_program_of(below(seed, 60));
    }
    sample->cores = 1 + below(seed, 8);
    sample->waited_permille = below(seed, 4) ? 1000 : 0;
    sample->busy_permille = below(seed, 1001);
    sample->own_permille = below(seed, sample->busy_permille + 1);
    sample->stall_permille = below(seed, 8) ? 0 : below(seed, 1001);
}

TEST(no_sample_breaks_the_bounds_the_ramp_or_the_brake)
{
    uint32_t seed = 1, before = 0, most;
    int ticks;

    begin(2, 100);
    for (ticks = 0; ticks < 100000; ticks++) {
        shuffle_sample(&seed);
        bench.sample.now_usec += 4 * LAW_TUNE_SAMPLE_USEC;
        look();
        most = bench.sample.cores > 2 * bench.sample.active ? bench.sample.cores
                                                            : 2 * bench.sample.active;
        ck_assert_uint_ge(bench.sample.limit, 2);
        ck_assert_uint_le(bench.sample.limit, most > 2 ? most : 2);
        if (before > 0 && bench.sample.stall_permille > 100 && !bench.tune.brake.is_others) {
            ck_assert_uint_le(bench.sample.limit, before);
        }
        before = bench.sample.limit;
    }
    ck_assert_uint_gt(bench.tune.brake.times, 100);
}

/* Four requests per 50 ms, of 50 ms each, and a quarter more. */
TEST(a_dry_run_estimates_the_limit_from_rate_and_service_time)
{
    law_tune_sample_t *sample = &bench.sample;
    uint32_t limit = 0;

    begin(1, 50);
    sample->served = 4;
    sample->service_usec = 4 * 50000;
    for (; sample->now_usec < 1010 * ADM_USEC_PER_SEC; sample->now_usec += LAW_TUNE_SAMPLE_USEC) {
        limit = law_tune_estimate(&bench.tune, &bench.rules, sample);
    }
    ck_assert_uint_eq(limit, 5);
}

/* ---- words ---------------------------------------------------------------------------- */

TEST(a_reason_beyond_the_last_has_a_word)
{
    ck_assert_str_eq(law_tune_field_reason(LAW_TUNE_REASONS), "unknown");
}
