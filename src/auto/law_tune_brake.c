/* law_tune_brake.c - memory back-off: fewer programs while processes stall for memory.
 *
 * The last resort: memory has already run out.
 */
#include "law_tune_parts.h"

/* Part of the time with stalls: below 0.03 normally, above 0.9 while thrashing. */
#define STALLED 0.10
#define CALM 0.02
#define CALM_SEC 2

/* Part of the running programs that a cut leaves. The next cut follows after a second
 * or more, when programs have ended and released memory. */
#define CUT 0.7
#define CUT_SEC 1

/* The ceiling remains for 5 s, then rises by 1 every 5 s. If the previous brake
 * started less than a minute ago, the ceiling remains twice as long as before. */
#define CEILING_SEC 5
#define AGAIN_SEC 60
#define WAIT_MOST_SEC 300

/* Stalls that last 10 s while a tenth of the memory is available have another cause,
 * for example a control group at its own limit. */
#define HELPS_SEC 10
#define AMPLE_PART 10

static bool is_memory_ample(const law_tune_sample_t *sample)
{
    return sample->available_kb >= sample->total_kb / AMPLE_PART
           && sample->total_kb > 0;
}

/* Lower the limit to CUT of the running programs, and by at least one. */
static void cut(law_tune_brake_t *brake, const law_tune_sample_t *sample,
                uint32_t min, double now)
{
    uint32_t less = brake->limit > 0 ? brake->limit - 1 : 0;
    uint32_t part = (uint32_t)(CUT * sample->active);

    brake->limit = law_tune_larger(min, part < less ? part : less);
    brake->ceiling_until = now + brake->wait;
    brake->last_cut = brake->last_stall = now;
}

/* Turn the brake on. Its ceiling is one program fewer than were running. */
static void start_brake(law_tune_brake_t *brake,
                        const law_tune_sample_t *sample, uint32_t limit,
                        uint32_t min, double now)
{
    uint32_t most = sample->active < limit ? sample->active : limit;
    bool again = brake->times > 0 && now < brake->began + AGAIN_SEC;

    brake->wait = again ? law_tune_clamp(2 * brake->wait, CEILING_SEC,
                                         WAIT_MOST_SEC)
                        : CEILING_SEC;
    brake->is_on = 1;
    brake->times++;
    brake->began = now;
    brake->before = limit;
    /* A lower limit is in force if the agent was stopped for a while. */
    brake->limit = sample->limit > 0 && sample->limit < limit ? sample->limit
                                                              : limit;
    brake->ceiling = most > min + 1 ? most - 1 : min;
    cut(brake, sample, min, now);
}

/* Check whether stalls still have another cause than this zone's programs. After a
 * brake that did not help, this is so until memory becomes scarce, or no process has
 * stalled for a minute. @return whether the brake stays off. */
static bool update_other_cause(law_tune_brake_t *brake,
                               const law_tune_sample_t *sample, double stall,
                               double now)
{
    if (stall > CALM) {
        brake->last_stall = now;
    }
    if (!is_memory_ample(sample) || now - brake->last_stall >= AGAIN_SEC) {
        brake->is_others = 0;
    }
    return brake->is_others;
}

/* Continue a brake: cut again while processes stall. It ends if it does not help although
 * memory is available; or CALM_SEC after the last stall, halfway to the ceiling. */
static law_tune_braking_t
continue_brake(law_tune_brake_t *brake, const law_tune_sample_t *sample,
               double stall, const law_tune_rules_t *rules, double now)
{
    if (stall > CALM) {
        brake->last_stall = now;
    }
    if (stall > STALLED && now - brake->began >= HELPS_SEC
        && is_memory_ample(sample) && LAW_TUNE_HAS(OTHERS)) {
        brake->is_on = 0;
        brake->is_others = 1;
        brake->ceiling = 0;
        brake->limit = brake->before;
        return LAW_TUNE_BRAKE_ENDS;
    }
    if (now - brake->last_stall >= CALM_SEC) {
        brake->is_on = 0;
        if (brake->ceiling > brake->limit) {
            brake->limit += (brake->ceiling - brake->limit + 1) / 2;
        }
        return LAW_TUNE_BRAKE_ENDS;
    }
    if (stall > STALLED && sample->active > rules->min
        && now - brake->last_cut >= CUT_SEC) {
        cut(brake, sample, rules->min, now);
    }
    return LAW_TUNE_BRAKE_ON;
}

law_tune_braking_t law_tune_brake(law_tune_brake_t *brake,
                                  const law_tune_sample_t *sample, double stall,
                                  uint32_t limit, const law_tune_rules_t *rules,
                                  double now)
{
    if (brake->is_others && update_other_cause(brake, sample, stall, now)) {
        return LAW_TUNE_BRAKE_OFF;
    }
    if (brake->is_on) {
        return continue_brake(brake, sample, stall, rules, now);
    }
    if (stall <= STALLED || sample->active <= rules->min) {
        return LAW_TUNE_BRAKE_OFF;
    }
    start_brake(brake, sample, limit, rules->min, now);
    return LAW_TUNE_BRAKE_BEGINS;
}

bool law_tune_brake_forbids(const law_tune_brake_t *brake, double stall)
{
    return stall > STALLED && !brake->is_others;
}

uint32_t law_tune_brake_ceiling(law_tune_brake_t *brake, uint32_t max,
                                double now)
{
    if (brake->ceiling == 0) {
        return max;
    }
    if (now > brake->ceiling_until) {
        brake->ceiling++;
        brake->ceiling_until = now + CEILING_SEC;
    }
    if (brake->ceiling >= max) {
        brake->ceiling = 0;
        return max;
    }
    return brake->ceiling;
}

bool law_tune_brake_is_sane(const law_tune_brake_t *brake, double now)
{
    return brake->is_on <= 1 && brake->is_others <= 1
           && law_tune_is_within(&brake->began, 0, now)
           && law_tune_is_within(&brake->last_cut, 0, now)
           && law_tune_is_within(&brake->last_stall, 0, now)
           && law_tune_is_within(&brake->ceiling_until, 0, now + WAIT_MOST_SEC)
           && law_tune_is_within(&brake->wait, 0, WAIT_MOST_SEC);
}
