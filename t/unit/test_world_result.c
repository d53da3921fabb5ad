/* test_world_result.c - what a simulated web server has served. */
#include "test_world.h"

static double mean_of(const double *numbers, int from, int until)
{
    double sum = 0;
    int i;

    for (i = from; i < until; i++) {
        sum += numbers[i];
    }
    return sum / (until - from);
}

double world_rate(const world_result_t *result, int from, int until)
{
    return mean_of(result->served, from, until);
}

double world_limit(const world_result_t *result, int from, int until)
{
    return mean_of(result->limit, from, until);
}

double world_thrash(const world_result_t *result, int from, int until)
{
    return mean_of(result->thrash_in, from, until);
}

int world_seconds_to(const world_result_t *result, double rate, int from, int until)
{
    int at;

    for (at = from; at + 5 <= until; at++) {
        if (world_rate(result, at, at + 5) >= 0.95 * 0.97 * rate) {
            return at - from;
        }
    }
    return -1;
}
