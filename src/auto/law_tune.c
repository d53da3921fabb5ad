/* law_tune.c - the algorithm of `MaxConcurrent auto`.
 *
 * For any state and sample, the limit stays between the bounds and every number
 * of the state stays finite.
 */
#include "law_tune.h"
#include "law_tune_parts.h"

/* Samples are taken 20 times per second, to detect the growth of programs in time;
 * decisions need more requests than one sample has. */
#define TICK_SEC 0.25
/* Tolerance: rounding must not make a tick one sample longer. */
#define TICK_SLACK_SEC 1e-3

/* Larger numbers are invalid: more than a century, or more than any httpd has. */
#define USEC_MOST (UINT64_C(1) << 52)
#define COUNT_MOST LAW_TUNE_MOST
#define KB_MOST (UINT64_C(1) << 42)

/* Maximum ratio of the limit to the running programs, because new programs have not
 * shown their size yet. */
#define RAMP 2

/* The cap falls immediately and rises by a sixteenth or more: noise of its
 * inputs must not end every measurement. */
#define CAP_STEP(cap) ((cap) < 16 ? 1 : (cap) / 16)

/* ---- input ---------------------------------------------------------------------- */

static law_tune_rules_t clean_rules(const law_tune_rules_t *rules)
{
    law_tune_rules_t clean = *rules;

    clean.min = law_tune_between(clean.min, 1, COUNT_MOST);
    clean.max = law_tune_between(clean.max, 1, COUNT_MOST);
    if (clean.min > clean.max) {
        clean.min = clean.max;
        clean.max = law_tune_between(rules->min, 1, COUNT_MOST);
    }
    return clean;
}

static uint64_t at_most(uint64_t number, uint64_t most)
{
    return number < most ? number : most;
}

static law_tune_sample_t clean_sample(const law_tune_sample_t *sample)
{
    law_tune_sample_t clean = *sample;

    clean.now_usec = at_most(clean.now_usec, USEC_MOST);
    clean.active = at_most(clean.active, COUNT_MOST);
    clean.service_usec = at_most(clean.service_usec, USEC_MOST);
    clean.waited_permille = at_most(clean.waited_permille, 1000);
    clean.programs = clean.rss_kb ? at_most(clean.programs, COUNT_MOST) : 0;
    clean.cores = law_tune_between(clean.cores, 1, COUNT_MOST);
    clean.busy_permille = at_most(clean.busy_permille, 1000);
    clean.own_permille = at_most(clean.own_permille, clean.busy_permille);
    clean.total_kb = at_most(clean.total_kb, KB_MOST);
    clean.available_kb = at_most(clean.available_kb, KB_MOST);
    clean.stall_permille = at_most(clean.stall_permille, 1000);
    return clean;
}

/* ---- the state --------------------------------------------------------------------- */

static bool is_sane(const law_tune_t *tune, double now)
{
    return tune->version == LAW_TUNE_VERSION && tune->reason < LAW_TUNE_REASONS
           && law_tune_is_within(&tune->now, 0, now)
           && law_tune_is_within(&tune->since, 0, now)
           && law_tune_is_within(&tune->budget_kb, 0, LAW_TUNE_HUGE)
           && law_tune_is_within(&tune->busy, 0, 1)
           && law_tune_epoch_tick_is_sane(&tune->tick)
           && law_tune_memory_is_sane(&tune->memory, now)
           && law_tune_brake_is_sane(&tune->brake, now)
           && law_tune_search_is_sane(&tune->search, now);
}

static void initialize(law_tune_t *tune, law_tune_mode_t mode, uint32_t limit,
                       double now)
{
    memset(tune, 0, sizeof(*tune));
    tune->version = LAW_TUNE_VERSION;
    tune->limit = tune->tick_limit = limit;
    tune->now = tune->since = now;
    tune->memory.inflation = 1;
    law_tune_search_begin(&tune->search, mode, limit, now);
}

void law_tune_remember(law_tune_t *tune, uint32_t limit, uint32_t need_kb,
                       uint32_t largest_kb)
{
    initialize(tune, limit ? LAW_TUNE_MODE_HOLD : LAW_TUNE_MODE_FIRST,
               law_tune_between(limit, 1, COUNT_MOST), 0);
    if (need_kb > 0) {
        law_tune_memory_remember(&tune->memory, need_kb, largest_kb);
    }
}

/* Initialize a state that is new, or that law_tune_remember() has prepared without
 * a clock. An invalid state starts again, at the limit in force. */
static void make_sane(law_tune_t *tune, const law_tune_rules_t *rules,
                      const law_tune_sample_t *sample, double now)
{
    if (tune->version == 0) {
        initialize(tune, LAW_TUNE_MODE_FIRST, rules->min, now);
    }
    else if (!is_sane(tune, now)) {
        initialize(tune, LAW_TUNE_MODE_HOLD,
                   law_tune_between(sample->limit, rules->min, rules->max),
                   now);
    }
    else if (tune->now <= 0) {
        tune->now = tune->since = now;
        law_tune_search_begin(&tune->search, tune->search.mode,
                              tune->search.target, now);
    }
}

/* ---- one tick ------------------------------------------------------------------------ */

static void gather(law_tune_tick_t *tick, const law_tune_sample_t *sample,
                   double sec)
{
    tick->sec += sec;
    tick->served += sample->served;
    tick->service_sec += (double)sample->service_usec / 1e6;
    tick->service_square += (double)sample->service_square_ms2 / 1e6;
    tick->waited_sec += sec * sample->waited_permille / 1000;
    tick->busy_sec += sec * sample->busy_permille / 1000;
    tick->own_sec += sec * sample->own_permille / 1000;
    tick->stall_sec += sec * sample->stall_permille / 1000;
}

static void show(law_tune_t *tune, uint32_t limit, law_tune_reason_t reason)
{
    if (limit != tune->limit) {
        tune->since = tune->now;
    }
    tune->limit = limit;
    tune->reason = reason;
}

/* Allow RAMP times the running programs, but at least one per CPU and the minimum. */
static uint32_t ramped(const law_tune_sample_t *sample,
                       const law_tune_rules_t *rules, uint32_t limit)
{
    uint32_t most = law_tune_larger(sample->cores, RAMP * sample->active);

    if (!LAW_TUNE_HAS(RAMP) || limit <= most) {
        return limit;
    }
    return law_tune_larger(most, rules->min);
}

/* @return whether the need of programs is known: then a brake corrects the forecast,
 * and the brake's own ceiling is not needed. */
static bool is_forecast(const law_tune_t *tune)
{
    return tune->memory.ended >= 1 && LAW_TUNE_HAS(FORECAST);
}

/* Update the brake. When it ends, the search continues: at the limit before the
 * brake if the corrected forecast now prevents a shortage, otherwise at the limit
 * of the brake. @return whether the brake decides this tick. */
static bool is_braked(law_tune_t *tune, const law_tune_rules_t *rules,
                      const law_tune_sample_t *sample, double stall)
{
    uint32_t limit;

    switch (law_tune_brake(&tune->brake, sample, stall, tune->limit, rules,
                           tune->now)) {
    case LAW_TUNE_BRAKE_BEGINS:
        law_tune_memory_correct(&tune->memory, sample);
        return true;
    case LAW_TUNE_BRAKE_ON:
        return true;
    case LAW_TUNE_BRAKE_ENDS:
        limit = is_forecast(tune) ? tune->brake.before : tune->brake.limit;
        law_tune_search_resume(&tune->search,
                               law_tune_between(limit, rules->min, rules->max),
                               tune->now);
        return false;
    default:
        return false;
    }
}

/* @return the limit of the brake, of the cold-start gate or of the search. */
static uint32_t wanted(law_tune_t *tune, const law_tune_sample_t *sample,
                       const law_tune_view_t *view, double stall,
                       law_tune_reason_t *reason)
{
    const law_tune_rules_t rules = { view->min, view->max };

    if (LAW_TUNE_HAS(BRAKE) && is_braked(tune, &rules, sample, stall)) {
        *reason = LAW_TUNE_BRAKE;
        return tune->brake.limit;
    }
    if (tune->search.mode == LAW_TUNE_MODE_FIRST) {
        *reason = LAW_TUNE_START;
        return rules.min;
    }
    law_tune_search(&tune->search, &tune->tick, tune->tick_limit, view);
    *reason = tune->search.reason;
    return tune->search.target;
}

/* Choose the limit at the end of a tick. While processes stall, it does not rise. */
static void decide(law_tune_t *tune, const law_tune_rules_t *rules,
                   const law_tune_sample_t *sample, uint32_t cap, bool is_new)
{
    const law_tune_view_t view = { tune->now,
                                   rules->min,
                                   rules->max,
                                   cap,
                                   sample->cores,
                                   sample->active,
                                   sample->others_try != 0 };
    double stall = law_tune_ratio(tune->tick.stall_sec, tune->tick.sec);
    law_tune_reason_t reason;
    uint32_t limit = wanted(tune, sample, &view, stall, &reason);

    limit = ramped(sample, rules, law_tune_between(limit, rules->min, cap));
    if (limit > tune->tick_limit && LAW_TUNE_HAS(BRAKE)
        && law_tune_brake_forbids(&tune->brake, stall)) {
        limit = law_tune_larger(tune->tick_limit, rules->min);
    }
    show(tune, limit,
         is_new && reason != LAW_TUNE_BRAKE ? LAW_TUNE_NEW : reason);
    tune->tick_limit = limit;
    tune->busy = law_tune_clamp(law_tune_ratio(tune->tick.busy_sec,
                                               tune->tick.sec),
                                0, 1);
    memset(&tune->tick, 0, sizeof(tune->tick));
}

/* Between ticks the limit only falls, or returns to what the tick decided. */
static void guard(law_tune_t *tune, const law_tune_rules_t *rules, uint32_t cap,
                  bool is_new)
{
    uint32_t limit = law_tune_between(tune->tick_limit, rules->min, cap);

    if (is_new) {
        show(tune, limit, LAW_TUNE_NEW);
    }
    else if (limit < tune->tick_limit) {
        show(tune, limit, LAW_TUNE_MEMORY);
    }
    else if (limit != tune->limit) {
        show(tune, limit, tune->search.reason);
    }
}

/* ---- one sample ------------------------------------------------------------------------ */

/* @return the maximum for the search, between the bounds: the number of programs
 * that fit into memory; the ceiling of the brake while their need is unknown; the
 * minimum while a program of unknown size grows (@a is_new). */
static uint32_t cap_of(law_tune_t *tune, const law_tune_rules_t *rules,
                       const law_tune_sample_t *sample, bool is_new)
{
    uint32_t cap = rules->max;
    uint32_t ceiling;

    tune->budget_kb = law_tune_memory_budget(sample);
    if (LAW_TUNE_HAS(FORECAST)) {
        cap = law_tune_memory_cap(&tune->memory, sample, tune->budget_kb, cap);
    }
    tune->memory_cap = cap;
    ceiling = law_tune_brake_ceiling(&tune->brake, rules->max, tune->now);
    if (!is_forecast(tune)) {
        cap = law_tune_between(cap, 0, ceiling);
    }
    cap = law_tune_between(is_new ? 0 : cap, rules->min, rules->max);
    if (cap < tune->cap || cap >= tune->cap + CAP_STEP(tune->cap)
        || !LAW_TUNE_HAS(STEPS)) {
        tune->cap = cap;
    }
    return law_tune_between(tune->cap, rules->min, rules->max);
}

/* Update the state with a sample. @return whether the size of programs is known. */
static bool take_sample(law_tune_t *tune, const law_tune_rules_t *rules,
                        const law_tune_sample_t *sample)
{
    double now = (double)sample->now_usec / 1e6;
    double sec;

    make_sane(tune, rules, sample, now);
    sec = now - tune->now;
    tune->now = now;
    gather(&tune->tick, sample, sec);
    law_tune_memory_update(&tune->memory, sample, sec);
    return law_tune_memory_update_known(&tune->memory, sample, now);
}

static bool is_tick_over(const law_tune_t *tune)
{
    return tune->tick.sec >= TICK_SEC - TICK_SLACK_SEC;
}

uint32_t law_tune(law_tune_t *tune, const law_tune_rules_t *given_rules,
                  const law_tune_sample_t *given_sample)
{
    const law_tune_sample_t sample = clean_sample(given_sample);
    const law_tune_rules_t rules = clean_rules(given_rules);
    bool is_known = take_sample(tune, &rules, &sample);
    uint32_t cap;
    bool is_new;

    is_new = LAW_TUNE_HAS(GATE)
             && law_tune_memory_update_surprise(&tune->memory, &sample,
                                                tune->now);
    cap = cap_of(tune, &rules, &sample, is_new);

    /* The first program has shown its size: the search starts at one per CPU. */
    if (tune->search.mode == LAW_TUNE_MODE_FIRST
        && (is_known || !LAW_TUNE_HAS(GATE))) {
        law_tune_search_begin(&tune->search, LAW_TUNE_MODE_CLIMB,
                              law_tune_between(sample.cores, rules.min, cap),
                              tune->now);
    }
    if (is_tick_over(tune)) {
        decide(tune, &rules, &sample, cap, is_new);
    }
    else {
        guard(tune, &rules, cap, is_new);
    }
    return tune->limit;
}

/* ---- dry run -------------------------------------------------------------------------- */

/* The estimate is the highest rate times the lowest service time, that is, without
 * waiting for other programs (Little's law). A quarter is added for permits on their
 * way to the next request. Both values fade, because the load can change. */
#define ESTIMATE_ROOM 1.25
#define ESTIMATE_FADES 0.01

/* After each epoch, update the highest rate and the lowest service time. */
static void note_estimate(law_tune_search_t *search, double now)
{
    static const law_tune_need_t need = { 20, 0.004, 1.5 };
    law_tune_yield_t yield;

    if (!law_tune_epoch_is_over(&search->epoch, 1, &need)) {
        return;
    }
    yield = law_tune_epoch_yield(&search->epoch, 1);
    law_tune_epoch_begin(&search->epoch, now, 0);
    search->best_rate = law_tune_larger(search->best_rate
                                            * (1 - ESTIMATE_FADES),
                                        yield.rate);
    search->least_service *= 1 + ESTIMATE_FADES;
    if (yield.service > 0
        && (search->least_service <= 0
            || yield.service < search->least_service)) {
        search->least_service = yield.service;
    }
}

uint32_t law_tune_estimate(law_tune_t *tune,
                           const law_tune_rules_t *given_rules,
                           const law_tune_sample_t *given_sample)
{
    const law_tune_sample_t sample = clean_sample(given_sample);
    const law_tune_rules_t rules = clean_rules(given_rules);
    law_tune_search_t *search = &tune->search;
    uint32_t limit;

    take_sample(tune, &rules, &sample);
    limit = cap_of(tune, &rules, &sample, false);
    if (is_tick_over(tune)) {
        law_tune_epoch_add(&search->epoch, &tune->tick, tune->now);
        note_estimate(search, tune->now);
        memset(&tune->tick, 0, sizeof(tune->tick));
    }
    if (search->best_rate > 0 && search->least_service > 0) {
        limit = law_tune_between(law_tune_ceiling(ESTIMATE_ROOM
                                                  * search->best_rate
                                                  * search->least_service),
                                 rules.min, limit);
    }
    search->target = search->hold = limit;
    show(tune, limit, LAW_TUNE_ESTIMATE);
    tune->tick_limit = limit;
    return limit;
}

/* ---- queries -------------------------------------------------------------------------- */

uint32_t law_tune_safe(const law_tune_t *tune, const law_tune_rules_t *rules)
{
    double need = tune->memory.largest_kb * tune->memory.inflation;

    if (tune->memory.ended < 1 || need < 1) {
        return 0;
    }
    return law_tune_between((uint32_t)law_tune_clamp(tune->budget_kb / need, 0,
                                                     LAW_TUNE_MOST),
                            rules->min, rules->max);
}

uint64_t law_tune_need_kb(const law_tune_t *tune)
{
    return tune->memory.ended < 1
               ? 0
               : (uint64_t)law_tune_clamp(law_tune_memory_need(&tune->memory),
                                          0, LAW_TUNE_HUGE);
}
