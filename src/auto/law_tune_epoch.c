/* law_tune_epoch.c - measurement intervals: the throughput of one limit. */
#include "law_tune_parts.h"

/* Minimum; in a shorter epoch the ticks of 250 ms would be the noise. */
#define LEAST_SEC 1
/* Maximum; the steps of a climb and the time to settle must fit into a minute. */
#define MOST_SEC 8
/* Maximum if fewer than 3 requests have finished, because programs are slow. */
#define FEW 3
#define MOST_SEC_FOR_FEW 20
/* Enough requests: an error of 5 % at a variation of 100 %. */
#define MOST_SERVED 400

void law_tune_epoch_begin(law_tune_epoch_t *epoch, double now, double skip_sec)
{
    memset(epoch, 0, sizeof(*epoch));
    epoch->from = now + skip_sec;
}

void law_tune_epoch_add(law_tune_epoch_t *epoch, const law_tune_tick_t *tick,
                        double now)
{
    /* Tolerates a microsecond of rounding. */
    if (now - tick->sec < epoch->from - 1e-6) {
        return;
    }
    epoch->sum.sec += tick->sec;
    epoch->sum.served += tick->served;
    epoch->sum.service_sec += tick->service_sec;
    epoch->sum.service_square += tick->service_square;
    epoch->sum.busy_sec += tick->busy_sec;
    epoch->sum.own_sec += tick->own_sec;
}

/* Squared variation of the service time: variance over square of the mean. */
static double variation(const law_tune_tick_t *sum)
{
    double mean = law_tune_ratio(sum->service_sec, sum->served);
    double square = law_tune_ratio(sum->service_square, sum->served);

    return law_tune_clamp(law_tune_ratio(square, mean * mean) - 1, 0, 1e6);
}

bool law_tune_epoch_is_over(const law_tune_epoch_t *epoch, uint32_t limit,
                            const law_tune_need_t *need)
{
    const law_tune_tick_t *sum = &epoch->sum;
    double served = need->least;

    if (sum->sec < LEAST_SEC) {
        return false;
    }
    if (sum->served < FEW) {
        return sum->sec >= MOST_SEC_FOR_FEW;
    }
    served = law_tune_larger(served, need->rounds * limit);
    served = law_tune_larger(served,
                             law_tune_clamp(variation(sum) / need->variance, 0,
                                            MOST_SERVED));
    return sum->served >= served || sum->sec >= MOST_SEC;
}

law_tune_yield_t law_tune_epoch_yield(const law_tune_epoch_t *epoch,
                                      uint32_t limit)
{
    const law_tune_tick_t *sum = &epoch->sum;
    law_tune_yield_t yield = { limit, 0, 0, 0, 0 };

    yield.rate = law_tune_ratio(sum->served, sum->sec);
    yield.service = law_tune_ratio(sum->service_sec, sum->served);
    yield.busy = law_tune_clamp(law_tune_ratio(sum->busy_sec, sum->sec), 0, 1);
    yield.own = law_tune_clamp(law_tune_ratio(sum->own_sec, sum->sec), 0, 1);
    return yield;
}

double law_tune_epoch_pays(const law_tune_yield_t *less,
                           const law_tune_yield_t *more)
{
    double grown = law_tune_ratio(more->limit, less->limit) - 1;

    if (less->rate <= 0) {
        return more->rate > 0 ? 1 : 0;
    }
    return law_tune_ratio(law_tune_ratio(more->rate, less->rate) - 1, grown);
}

bool law_tune_epoch_is_sane(const law_tune_epoch_t *epoch, double now)
{
    const law_tune_tick_t *sum = &epoch->sum;

    /* An epoch starts at most some seconds in the future. */
    return law_tune_is_within(&epoch->from, 0, now + 60)
           && law_tune_epoch_tick_is_sane(sum);
}

bool law_tune_epoch_tick_is_sane(const law_tune_tick_t *tick)
{
    return law_tune_is_within(&tick->sec, 0, LAW_TUNE_HUGE)
           && law_tune_is_within(&tick->served, 0, LAW_TUNE_HUGE)
           && law_tune_is_within(&tick->service_sec, 0, LAW_TUNE_HUGE)
           && law_tune_is_within(&tick->service_square, 0,
                                 LAW_TUNE_HUGE * LAW_TUNE_HUGE)
           && law_tune_is_within(&tick->waited_sec, 0, LAW_TUNE_HUGE)
           && law_tune_is_within(&tick->busy_sec, 0, LAW_TUNE_HUGE)
           && law_tune_is_within(&tick->own_sec, 0, LAW_TUNE_HUGE)
           && law_tune_is_within(&tick->stall_sec, 0, LAW_TUNE_HUGE);
}

bool law_tune_epoch_yield_is_sane(const law_tune_yield_t *yield)
{
    return law_tune_is_within(&yield->rate, 0, LAW_TUNE_HUGE)
           && law_tune_is_within(&yield->service, 0, LAW_TUNE_HUGE)
           && law_tune_is_within(&yield->busy, 0, 1)
           && law_tune_is_within(&yield->own, 0, 1);
}
