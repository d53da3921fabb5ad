/* law_tune_shown.c - what the outputs show of an automatic limit. */
#include "law_tune.h"
#include "law_tune_number.h"

static const char *const reasons[LAW_TUNE_REASONS] = {
    [LAW_TUNE_NONE] = "none",
    [LAW_TUNE_START] = "start",
    [LAW_TUNE_MEMORY] = "memory",
    [LAW_TUNE_PROCESSORS] = "processors",
    [LAW_TUNE_THROUGHPUT] = "throughput",
    [LAW_TUNE_IDLE] = "idle",
    [LAW_TUNE_NEW] = "new",
    [LAW_TUNE_BRAKE] = "brake",
    [LAW_TUNE_BOUNDS] = "bounds",
    [LAW_TUNE_ESTIMATE] = "estimate",
    [LAW_TUNE_SILENT] = "silent",
};

const char *law_tune_field_reason(uint64_t reason)
{
    return reason < LAW_TUNE_REASONS ? reasons[reason] : "unknown";
}

/* @return a scaled number of the state, rounded; 0 if it is invalid. */
static uint64_t rounded(const double *number, double scale)
{
    return law_tune_is_within(number, 0, LAW_TUNE_HUGE)
               ? (uint64_t)(*number * scale + 0.5)
               : 0;
}

static uint64_t seconds_since(const double *then, uint64_t now_usec)
{
    uint64_t now = now_usec / 1000000;
    uint64_t since = rounded(then, 1);

    return since < now ? now - since : 0;
}

/* @return the KiB that the next program is expected to need, as
 * law_tune_memory_need() without its safety factor. */
static uint64_t need_kb(const law_tune_memory_t *memory)
{
    uint64_t mean = rounded(&memory->mean_kb, 1);
    uint64_t recent = rounded(&memory->recent_kb, 1);

    return mean > recent ? mean : recent;
}

static uint32_t trial_of(const law_tune_search_t *search)
{
    return search->mode == LAW_TUNE_MODE_UP
                   || search->mode == LAW_TUNE_MODE_DOWN
               ? search->target
               : 0;
}

law_tune_shown_t law_tune_show(const law_tune_t *tune, uint64_t now_usec)
{
    const law_tune_memory_t *memory = &tune->memory;

    return (law_tune_shown_t){
        .reason = tune->reason,
        .memory_cap = tune->memory_cap,
        .trial = trial_of(&tune->search),
        .brakes = tune->brake.times,
        .busy_permille = (uint32_t)rounded(&tune->busy, 1000),
        .since_sec = seconds_since(&tune->since, now_usec),
        .program_mb = need_kb(memory) / 1024,
        .largest_mb = rounded(&memory->largest_kb, 1) / 1024,
        .budget_mb = rounded(&tune->budget_kb, 1) / 1024,
        .requests_1000s = rounded(&tune->search.reference.rate, 1000)
    };
}
