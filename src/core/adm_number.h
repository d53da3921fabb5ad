/* adm_number.h - small arithmetic functions.
 * Included by src/core and src/agent.
 */
#ifndef ADM_NUMBER_H
#define ADM_NUMBER_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "adm_time.h"

static inline uint32_t adm_lesser(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static inline uint32_t adm_greater(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

static inline uint16_t adm_to_16_bits(uint32_t number)
{
    return (uint16_t)adm_lesser(number, UINT16_MAX);
}

/** @return @a part in thousandths of @a whole, at most 1000; 0 if @a whole is
 *  0. */
static inline uint32_t adm_permille(uint64_t part, uint64_t whole)
{
    uint64_t share = whole > 0 ? part * 1000 / whole : 0;

    return share < 1000 ? (uint32_t)share : 1000;
}

static inline bool adm_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static inline struct timespec adm_timespec(adm_usec_t time)
{
    return (struct timespec){ .tv_sec = time / ADM_USEC_PER_SEC,
                              .tv_nsec = (time % ADM_USEC_PER_SEC) * 1000 };
}

#endif
