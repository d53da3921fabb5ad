/* law_tune_number.h - arithmetic that no input can spoil.
 * Included by the files of the law of `MaxConcurrent auto`.
 */
#ifndef LAW_TUNE_NUMBER_H
#define LAW_TUNE_NUMBER_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/** Larger than any time, size or count here; its square is far from overflow. */
#define LAW_TUNE_HUGE 1e15

/** No limit is larger. */
#define LAW_TUNE_MOST (1u << 20)

/** @return whether a number of the state is between two others. Looks at the
 *  bits first: a comparison with NaN may trap. */
static inline bool law_tune_is_within(const double *number, double low,
                                      double high)
{
    const uint64_t exponent = UINT64_C(0x7ff) << 52;
    uint64_t bits;

    memcpy(&bits, number, sizeof(bits));
    return (bits & exponent) != exponent && *number >= low && *number <= high;
}

static inline double law_tune_clamp(double number, double low, double high)
{
    return number < low ? low : number > high ? high : number;
}

static inline double law_tune_larger(double a, double b)
{
    return a > b ? a : b;
}

static inline uint32_t law_tune_between(uint32_t number, uint32_t low,
                                        uint32_t high)
{
    return number < low ? low : number > high ? high : number;
}

/** @return a part of a whole, 0 when there is no whole. */
static inline double law_tune_ratio(double part, double whole)
{
    return whole > 1e-9 ? part / whole : 0;
}

/** @return the whole number at or above one between 0 and 2^31. */
static inline uint32_t law_tune_ceiling(double number)
{
    uint32_t whole = (uint32_t)law_tune_clamp(number, 0, 2147483647.0);

    return whole + (whole < number && whole < 2147483647);
}

#endif
