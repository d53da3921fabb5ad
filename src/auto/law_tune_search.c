/* law_tune_search.c - search for the limit with the highest throughput.
 *
 * Compares the throughput of limits, in epochs in which requests wait. Latency is not
 * compared: under a lasting overload, each measured baseline includes the overload.
 */
#include "law_tune_parts.h"

/* A tick counts if requests wait for this part of it: otherwise the throughput depends
 * on the arrivals, not on the limit. */
#define SATURATED 0.8
/* Idle: requests wait for less than this part of the last seconds. */
#define IDLE 0.2
#define IDLE_SEC 3

/* CPUs count as busy slightly below 1, because samples are not exact. */
#define BUSY 0.97
/* Busy CPUs end the climb only if httpd uses at least half of their time: if another
 * load takes more, httpd may climb to its half. */
#define OWN_PART 0.5

/* Steps of a climb: 30 requests suffice to measure a difference of 50 %. */
#define STEP 1.5
#define LONG_STEP 2.0
/* Minimum of law_tune_epoch_pays() to accept a higher limit; lower for a trial,
 * because little is left to gain near the saturation point. */
#define CLIMB_PAYS 0.4
#define TRIAL_PAYS 0.1
/* A gain this large is certain after few requests, so the trial ends early. */
#define CLEARLY_PAYS 0.6
#define NEVER_CLEAR 1e9
/* Saturation point relative to rate * undisturbed service time: permits are idle while
 * they pass from one request to the next. */
#define PLATEAU_ROOM 1.25

/* A trial is a quarter up or a fifth down: small enough to cost little, large enough
 * to measure. Each failure doubles the wait, so trials take at most 5 % of the time at
 * the best limit. A lower limit costs throughput, so it is tried less often. */
#define UP_TRIAL 1.25
#define DOWN_TRIAL 0.8
#define UP_WAIT 5.0
#define UP_WAIT_MOST 160.0
#define DOWN_WAIT 15.0
#define DOWN_WAIT_MOST 300.0

/* The best rate is discarded if the held limit serves less than this part of it: the
 * load has changed. */
#define STALE 0.75

/* Errors of the mean at a variation of 100 %: 14 % for a step of a climb, 6 % for the
 * held limit, 3 % for a trial, which must measure small differences. */
static const law_tune_need_t coarse = { 8, 0.02, 1.5 };
static const law_tune_need_t fine = { 20, 0.004, 5 };
static const law_tune_need_t careful = { 600, 0.001, 10 };

/* ---- helpers ------------------------------------------------------------------ */

/* @return whether httpd keeps the CPUs busy: a higher limit would not serve more. */
static bool is_cpu_bound(const law_tune_yield_t *yield)
{
    return LAW_TUNE_HAS(BUSY) && yield->busy >= BUSY
           && (yield->own >= OWN_PART || !LAW_TUNE_HAS(OWN));
}

/* @return seconds until requests that started under another limit have finished; at
 * least a tick, and 5 s are enough. */
static double skip_for(double service)
{
    return law_tune_clamp(1.2 * service, 0.25, 5);
}

/* As skip_for(), for the service time at the held limit, or the lowest known. */
static double skip(const law_tune_search_t *search)
{
    double service = search->least_service;

    return skip_for(search->reference.limit ? search->reference.service
                                            : service);
}

/* @return the lowest limit to try: fewer programs could not use as many CPUs as httpd
 * uses now. */
static uint32_t least_for(const law_tune_yield_t *yield,
                          const law_tune_view_t *view)
{
    uint32_t least = law_tune_ceiling(yield->own * view->cores - 0.2);

    return law_tune_larger(least, view->min);
}

/* @return why the limit cannot rise above the cap: memory, or a configured bound. */
static law_tune_reason_t reason_of_cap(const law_tune_view_t *view)
{
    bool is_min = view->cap <= view->min && view->min > 1;

    return view->cap >= view->max || is_min ? LAW_TUNE_BOUNDS : LAW_TUNE_MEMORY;
}

/* Store the lowest service time, which is close to the undisturbed one. */
static void note_service(law_tune_search_t *search,
                         const law_tune_yield_t *yield)
{
    if (yield->service > 0
        && (search->least_service <= 0
            || yield->service < search->least_service)) {
        search->least_service = yield->service;
    }
}

/* ---- changes of the mode -------------------------------------------------------- */

/* Hold the target, and set when the next trials are due. */
static void settle(law_tune_search_t *search, law_tune_reason_t reason,
                   double now)
{
    search->mode = LAW_TUNE_MODE_HOLD;
    search->reason = reason;
    search->hold = search->target;
    search->reference.limit = search->lower.limit = 0;
    search->next_up = now + search->up_wait;
    search->next_down = now + law_tune_clamp(search->down_wait, 0, 10);
    law_tune_epoch_begin(&search->epoch, now, skip(search));
}

static void try_limit(law_tune_search_t *search, law_tune_mode_t mode,
                      uint32_t limit, double now)
{
    search->mode = mode;
    search->target = limit;
    law_tune_epoch_begin(&search->epoch, now, skip(search));
}

/* Return to the held limit without a result. */
static void give_up(law_tune_search_t *search, double now)
{
    search->mode = LAW_TUNE_MODE_HOLD;
    search->target = search->hold;
    law_tune_epoch_begin(&search->epoch, now, skip(search));
}

/* ---- climb ---------------------------------------------------------------------- */

/* @return the estimated saturation point, between the last two steps of the climb:
 * the highest rate times the lowest service time (Little's law). */
static uint32_t plateau(const law_tune_search_t *search,
                        const law_tune_yield_t *yield)
{
    const law_tune_yield_t *lower = &search->lower;
    double rate = law_tune_larger(yield->rate, lower->rate);
    double service = lower->service;

    if (!LAW_TUNE_HAS(PLATEAU)) {
        return lower->limit;
    }
    if (search->least_service > 0 && search->least_service < service) {
        service = search->least_service;
    }
    return law_tune_between(law_tune_ceiling(PLATEAU_ROOM * rate * service),
                            lower->limit, yield->limit);
}

/* Climb to the next step: a long one if both the CPUs and the cap are far away. */
static void step_up(law_tune_search_t *search, const law_tune_yield_t *yield,
                    const law_tune_view_t *view)
{
    bool far = yield->busy < 0.5 && view->cap / 3 >= search->target;
    uint32_t next = law_tune_ceiling((far ? LONG_STEP : STEP) * search->target);

    search->lower = *yield;
    search->target = law_tune_between(next, search->target + 1, view->cap);
    law_tune_epoch_begin(&search->epoch, view->now, skip_for(yield->service));
}

/* After a step: climb on, unless it gained too little, or CPUs or cap are reached. */
static void judge_step(law_tune_search_t *search, const law_tune_yield_t *yield,
                       const law_tune_view_t *view)
{
    const law_tune_yield_t *lower = &search->lower;

    note_service(search, yield);
    if (lower->limit && yield->limit > lower->limit
        && law_tune_epoch_pays(lower, yield) < CLIMB_PAYS) {
        search->target = plateau(search, yield);
        settle(search,
               is_cpu_bound(yield) ? LAW_TUNE_PROCESSORS : LAW_TUNE_THROUGHPUT,
               view->now);
    }
    else if (is_cpu_bound(yield)) {
        settle(search, LAW_TUNE_PROCESSORS, view->now);
        search->reference = *yield;
    }
    else if (search->target >= view->cap) {
        settle(search, reason_of_cap(view), view->now);
        search->reference = *yield;
    }
    else {
        step_up(search, yield, view);
    }
}

/* @return whether the step has more requests running than the limit before. */
static bool is_used(const law_tune_search_t *search,
                    const law_tune_view_t *view)
{
    return search->mode == LAW_TUNE_MODE_CLIMB && search->lower.limit
           && view->active > search->lower.limit;
}

/* Take a step after each epoch, as long as requests wait. If the last step left
 * none waiting, keep it only if it serves more: otherwise nothing would be
 * measured at a limit that is too high. */
static void climb(law_tune_search_t *search, const law_tune_view_t *view)
{
    bool is_idle = search->waited < IDLE;
    law_tune_yield_t yield;

    search->reason = LAW_TUNE_START;
    if (is_idle && !is_used(search, view)) {
        settle(search, LAW_TUNE_IDLE, view->now);
    }
    else if (law_tune_epoch_is_over(&search->epoch, search->target, &coarse)) {
        yield = law_tune_epoch_yield(&search->epoch, search->target);
        if (is_idle
            && law_tune_epoch_pays(&search->lower, &yield) >= CLIMB_PAYS) {
            settle(search, LAW_TUNE_IDLE, view->now);
        }
        else {
            judge_step(search, &yield, view);
        }
    }
}

/* ---- hold ------------------------------------------------------------------------- */

static bool is_off_by(double now, double before, double low, double high)
{
    return now < low * before || now > high * before;
}

/* Discard the results of earlier trials if load or service time has changed. @param
 * served  number of requests in @a yield */
static void notice_change(law_tune_search_t *search,
                          const law_tune_yield_t *yield, double served,
                          double now)
{
    const law_tune_yield_t *was = &search->reference;
    bool other_service = is_off_by(yield->service, was->service, 0.7, 1.4);

    if (!other_service && !is_off_by(yield->rate, was->rate, 0.75, 1.33)
        && yield->busy <= was->busy + 0.15 && yield->busy >= was->busy - 0.15) {
        return;
    }
    search->up_wait = UP_WAIT;
    search->down_wait = DOWN_WAIT;
    search->next_up = law_tune_clamp(search->next_up, 0, now);
    search->next_down = law_tune_clamp(search->next_down, 0, now + 5);
    if (yield->rate < was->rate && served >= fine.least) {
        /* Requests probably wait for a slower backend: a lower limit serves as much. */
        search->next_up = now + 10;
        search->next_down = now;
    }
    if (other_service) {
        search->least_service = yield->service;
    }
    search->best_rate = 0;
    search->reference = *yield;
}

/* Update the reference, a moving mean of about three epochs. */
static void move_reference(law_tune_search_t *search,
                           const law_tune_yield_t *yield)
{
    law_tune_yield_t *is = &search->reference;

    if (is->limit != yield->limit) {
        *is = *yield;
        return;
    }
    is->rate += 0.3 * (yield->rate - is->rate);
    is->service += 0.3 * (yield->service - is->service);
    is->busy += 0.3 * (yield->busy - is->busy);
    is->own += 0.3 * (yield->own - is->own);
}

/* Start a trial that is due: of a higher limit, unless the CPUs are busy; of a lower
 * limit, if the CPUs or the throughput, not memory, are the reason for the limit. */
static void start_trial(law_tune_search_t *search, const law_tune_view_t *view)
{
    const law_tune_yield_t *is = &search->reference;
    bool cpu_bound = is_cpu_bound(is);
    uint32_t least = least_for(is, view);
    uint32_t next;

    search->best_rate = law_tune_larger(search->best_rate, is->rate);
    if (!cpu_bound && search->hold < view->cap
        && view->now >= search->next_up) {
        next = law_tune_ceiling(UP_TRIAL * search->hold);
        try_limit(search, LAW_TUNE_MODE_UP,
                  law_tune_between(next, search->hold + 1, view->cap),
                  view->now);
    }
    else if (view->now >= search->next_down && search->hold > least
             && (cpu_bound || search->reason == LAW_TUNE_THROUGHPUT)) {
        next = (uint32_t)(DOWN_TRIAL * search->hold);
        try_limit(search, LAW_TUNE_MODE_DOWN,
                  law_tune_between(next, least, search->hold - 1), view->now);
    }
}

/* Hold the limit, while requests wait: measure its throughput in epochs. After each epoch,
 * react to a change of the load, and start a trial of another limit if one is due. */
static void hold(law_tune_search_t *search, const law_tune_view_t *view)
{
    law_tune_yield_t yield;
    double served;

    if (search->waited < IDLE) {
        search->reason = LAW_TUNE_IDLE;
        law_tune_epoch_begin(&search->epoch, view->now, 0);
        return;
    }
    if (!law_tune_epoch_is_over(&search->epoch, search->target, &fine)) {
        return;
    }
    yield = law_tune_epoch_yield(&search->epoch, search->target);
    served = search->epoch.sum.served;
    law_tune_epoch_begin(&search->epoch, view->now, 0);
    note_service(search, &yield);
    if (search->reference.limit == yield.limit) {
        notice_change(search, &yield, served, view->now);
    }
    if (yield.rate < STALE * search->best_rate) {
        search->best_rate = 0;
    }
    move_reference(search, &yield);
    search->reason = is_cpu_bound(&yield)          ? LAW_TUNE_PROCESSORS
                     : search->target >= view->cap ? reason_of_cap(view)
                                                   : LAW_TUNE_THROUGHPUT;
    if (LAW_TUNE_HAS(TRIALS) && !view->others_try) {
        start_trial(search, view);
    }
}

/* ---- trials ------------------------------------------------------------------------ */

/* Give the trial up if no requests wait any more. @return whether it has a result: it
 * was measured accurately, or its gain is at least @a clear. */
static bool judge_trial(law_tune_search_t *search, const law_tune_view_t *view,
                        double clear)
{
    const law_tune_epoch_t *epoch = &search->epoch;
    law_tune_yield_t yield;

    if (search->waited < IDLE) {
        give_up(search, view->now);
        return false;
    }
    if (law_tune_epoch_is_over(epoch, search->target, &careful)) {
        return true;
    }
    yield = law_tune_epoch_yield(epoch, search->target);
    return law_tune_epoch_is_over(epoch, search->target, &fine)
           && law_tune_epoch_pays(&search->reference, &yield) >= clear;
}

/* Continue the trial of a higher limit. If it pays, climb on from there; otherwise
 * return to the held limit, and double the wait for the next trial. */
static void up(law_tune_search_t *search, const law_tune_view_t *view)
{
    law_tune_yield_t yield;

    if (!judge_trial(search, view, CLEARLY_PAYS)) {
        return;
    }
    yield = law_tune_epoch_yield(&search->epoch, search->target);
    if (law_tune_epoch_pays(&search->reference, &yield) >= TRIAL_PAYS) {
        search->lower = search->reference;
        search->up_wait = UP_WAIT;
        search->best_rate = 0;
        search->mode = LAW_TUNE_MODE_CLIMB;
        search->reason = LAW_TUNE_START;
        judge_step(search, &yield, view);
        return;
    }
    search->target = search->hold;
    search->up_wait = law_tune_clamp(2 * search->up_wait, 0, UP_WAIT_MOST);
    settle(search, LAW_TUNE_THROUGHPUT, view->now);
}

/* Continue the trial of a lower limit. If it serves as much, hold it, and try a still
 * lower one soon; otherwise return to the held limit, and double the wait. */
static void down(law_tune_search_t *search, const law_tune_view_t *view)
{
    law_tune_yield_t was = search->reference;
    law_tune_yield_t yield;
    bool same;

    if (!judge_trial(search, view, NEVER_CLEAR)) {
        return;
    }
    yield = law_tune_epoch_yield(&search->epoch, search->target);
    /* Compare with the best rate: otherwise many small losses would add up. */
    search->best_rate = was.rate = law_tune_larger(was.rate, search->best_rate);
    /* CPU time is measured more accurately than the rate. */
    same = was.own >= 0.9
               ? yield.own >= was.own - 0.01 && yield.rate >= 0.95 * was.rate
               : yield.rate >= 0.97 * was.rate;
    if (same) {
        settle(search, search->reason, view->now);
        search->reference = yield;
        search->next_down = view->now + 3;
        search->next_up = law_tune_larger(search->next_up, view->now + 30);
        return;
    }
    search->target = search->hold;
    search->down_wait = law_tune_clamp(2 * search->down_wait, 0,
                                       DOWN_WAIT_MOST);
    settle(search, search->reason, view->now);
    search->reference = was;
    search->next_down = view->now + search->down_wait;
}

/* ---- the tick ------------------------------------------------------------------------ */

void law_tune_search_begin(law_tune_search_t *search, law_tune_mode_t mode,
                           uint32_t limit, double now)
{
    memset(search, 0, sizeof(*search));
    search->mode = mode;
    search->reason = LAW_TUNE_START;
    search->target = search->hold = limit;
    search->waited = 1; /* not idle until measured */
    search->up_wait = UP_WAIT;
    search->down_wait = DOWN_WAIT;
    search->next_up = now + UP_WAIT;
    search->next_down = now + DOWN_WAIT;
    law_tune_epoch_begin(&search->epoch, now, skip_for(0));
}

void law_tune_search_resume(law_tune_search_t *search, uint32_t limit,
                            double now)
{
    search->mode = LAW_TUNE_MODE_HOLD;
    search->target = search->hold = limit;
    search->taken = 0;
    search->best_rate = 0;
    search->reference.limit = search->lower.limit = 0;
    search->next_up = now + 2;
    search->next_down = now + 60;
    law_tune_epoch_begin(&search->epoch, now, 1);
}

/* If the minimum was raised above the limit, hold it, and measure there. */
static void follow_min(law_tune_search_t *search, const law_tune_view_t *view)
{
    if (search->target < view->min) {
        search->mode = LAW_TUNE_MODE_HOLD;
        search->target = search->hold = view->min;
        search->reference.limit = 0;
        law_tune_epoch_begin(&search->epoch, view->now, skip(search));
    }
}

/* Follow the cap down; and up again, as far as the limit from before. A climb goes on
 * if the cap is still above its previous step. */
static void follow_cap(law_tune_search_t *search, const law_tune_view_t *view)
{
    uint32_t target = search->target;

    if (target > view->cap) {
        search->taken = law_tune_larger(search->taken, search->hold);
        search->target = view->cap;
    }
    else if (search->taken > target && search->mode == LAW_TUNE_MODE_HOLD
             && view->cap > target) {
        search->target = law_tune_between(search->taken, 0, view->cap);
    }
    else {
        return;
    }
    law_tune_epoch_begin(&search->epoch, view->now, skip(search));
    if (search->mode == LAW_TUNE_MODE_CLIMB
        && search->target > search->lower.limit) {
        return;
    }
    search->hold = search->target;
    search->mode = LAW_TUNE_MODE_HOLD;
    search->reason = reason_of_cap(view);
    search->reference.limit = 0;
    if (search->taken <= search->target) {
        search->taken = 0;
    }
}

void law_tune_search(law_tune_search_t *search, const law_tune_tick_t *tick,
                     uint32_t in_force, const law_tune_view_t *view)
{
    double waited = law_tune_clamp(law_tune_ratio(tick->waited_sec, tick->sec),
                                   0, 1);

    search->waited += law_tune_clamp(tick->sec / IDLE_SEC, 0, 1)
                      * (waited - search->waited);
    if ((waited >= SATURATED || is_used(search, view) || !LAW_TUNE_HAS(CHOICE))
        && in_force == search->target) {
        law_tune_epoch_add(&search->epoch, tick, view->now);
    }
    follow_min(search, view);
    follow_cap(search, view);
    switch (search->mode) {
    case LAW_TUNE_MODE_CLIMB:
        climb(search, view);
        break;
    case LAW_TUNE_MODE_UP:
        up(search, view);
        break;
    case LAW_TUNE_MODE_DOWN:
        down(search, view);
        break;
    default:
        hold(search, view);
        break;
    }
}

bool law_tune_search_is_sane(const law_tune_search_t *search, double now)
{
    return search->mode < LAW_TUNE_MODES && search->reason < LAW_TUNE_REASONS
           && search->target >= 1 && search->target <= LAW_TUNE_MOST
           && search->hold >= 1 && search->hold <= LAW_TUNE_MOST
           && search->taken <= LAW_TUNE_MOST
           && law_tune_is_within(&search->waited, 0, 1)
           && law_tune_epoch_is_sane(&search->epoch, now)
           && law_tune_epoch_yield_is_sane(&search->reference)
           && law_tune_epoch_yield_is_sane(&search->lower)
           && law_tune_is_within(&search->best_rate, 0, LAW_TUNE_HUGE)
           && law_tune_is_within(&search->least_service, 0, LAW_TUNE_HUGE)
           && law_tune_is_within(&search->next_up, 0, now + UP_WAIT_MOST)
           && law_tune_is_within(&search->up_wait, UP_WAIT, UP_WAIT_MOST)
           && law_tune_is_within(&search->next_down, 0, now + DOWN_WAIT_MOST)
           && law_tune_is_within(&search->down_wait, DOWN_WAIT, DOWN_WAIT_MOST);
}
