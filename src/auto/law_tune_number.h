/* law_tune_number.h - arithmetic that is safe for any input.
 * Included by the law_tune files.
 */
#ifndef LAW_TUNE_NUMBER_H
#define LAW_TUNE_NUMBER_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/** Larger than any time, size or count here; its square is far from overflow. */
#define LAW_TUNE_HUGE 1e15

/** Maximum limit. */
#define LAW_TUNE_MOST (1u << 20)

/** @return whether @a number is from @a low to @a high. Checks the bits first,
 *  because a comparison with NaN can trap. */
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

/** @return the quotient; 0 if @a whole is 0. */
static inline double law_tune_ratio(double part, double whole)
{
    return whole > 1e-9 ? part / whole : 0;
}

/** @return @a number, clamped to 0 to 2^31 - 1, rounded up. */
static inline uint32_t law_tune_ceiling(double number)
{
    uint32_t whole = (uint32_t)law_tune_clamp(number, 0, 2147483647.0);

    return whole + (whole < number && whole < 2147483647);
}

#endif
