/* gradient2.c - the limit of Netflix' concurrency-limits, for comparison.
 * Called by tune.c.
 */
#include "gradient2.h"

#define FIRST 20.0
#define MOST 200.0
#define WINDOW_USEC 1000000
#define WINDOW_LEAST 10 /* requests */
#define LONG_WINDOWS 600
#define WARM_WINDOWS 10 /* a plain mean of these */
#define TOLERANCE 1.5
#define ROOM 4.0
#define SMOOTHING 0.2
#define DRIFT 0.95

static void learn(gradient2_t *is, double sec)
{
    double weight = 2.0 / (LONG_WINDOWS + 1);

    is->windows++;
    if (is->windows <= WARM_WINDOWS) {
        weight = 1 / is->windows;
    }
    is->long_sec += weight * (sec - is->long_sec);
}

static double between(double number, double low, double high)
{
    return number < low ? low : number > high ? high : number;
}

static void decide(gradient2_t *is, double sec)
{
    double gradient = between(TOLERANCE * is->long_sec / sec, 0.5, 1);

    if (is->long_sec > 2 * sec) {
        is->long_sec *= DRIFT;
    }
    if (is->most_active < is->limit / 2) {
        return;
    }
    is->limit += SMOOTHING * (is->limit * gradient + ROOM - is->limit);
    is->limit = between(is->limit, 1, MOST);
}

uint32_t gradient2(void *self, const law_tune_sample_t *sample)
{
    gradient2_t *is = self;

    if (is->limit <= 0) {
        is->limit = FIRST;
    }
    is->served += sample->served;
    is->service_sec += (double)sample->service_usec / 1e6;
    if (sample->active > is->most_active) {
        is->most_active = sample->active;
    }
    if (sample->now_usec >= is->next_usec && is->served >= WINDOW_LEAST
        && is->service_sec > 0) {
        learn(is, is->service_sec / is->served);
        decide(is, is->service_sec / is->served);
        is->next_usec = sample->now_usec + WINDOW_USEC;
        is->served = is->service_sec = 0;
        is->most_active = 0;
    }
    return (uint32_t)is->limit;
}
