/* auto_duty.c - the agent's duty that sets automatic limits.
 *
 * Each pass samples the zones, divides the memory among them, and lets law_tune()
 * choose each limit. docs/dev/auto.md explains the algorithm.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "auto_shm.h"
#include "auto_programs.h"
#include "auto_sense.h"
#include "auto_file.h"
#include "auto_duty.h"
#include "law_share.h"
#include "law_tune.h"
#include "core/adm_number.h"

#define SAMPLE_USEC LAW_TUNE_SAMPLE_USEC
#define TICK_USEC (250 * ADM_USEC_PER_MSEC)
/* Interval of samples of an idle zone. */
#define IDLE_USEC ADM_USEC_PER_SEC

/* Minimum between two log messages of a zone: its limit can change several times per
 * second. */
#define LOG_USEC (60 * ADM_USEC_PER_SEC)

/* Interval of writing the state file, and minimum age of a limit written to it. */
#define WRITE_USEC (30 * ADM_USEC_PER_SEC)

/* Maximum number of programs sampled per zone. */
#define PROGRAMS_MOST 1024

/* A zone's claim on memory is at most 1.5 times its limit. */
#define GROWTH 3 / 2

typedef struct tuned_t {
    const auto_zone_t *zone;
    law_tune_t law;
    auto_work_t work, before;      /* of this sample, of the previous one */
    uint32_t sizes[PROGRAMS_MOST]; /* KiB of each program, or of its part */
    uint32_t programs;             /* entries in sizes */
    adm_usec_t sampled_at;
    bool is_sampled;   /* sampled in this pass */
    bool is_due;       /* limit stored, but permits not granted yet */
    auto_saved_t kept; /* line in the file; limit and need 0: none */
    uint32_t logged_limit;
    uint32_t logged_brakes;
    _Atomic adm_usec_t next_log;
    _Atomic adm_usec_t next_brake_log;
} tuned_t;

static struct {
    const auto_setup_t *setup;
    tuned_t *zones;
    adm_zone_t *handles;
    law_share_t *shares;
    uint32_t count;
    auto_sense_t sense;
    adm_usec_t next_sample, next_tick, next_idle, next_write;
    char *text;   /* content of the state file */
    bool is_idle; /* all zones are idle; the next request wakes the agent */
} duty;

/* ---- start -------------------------------------------------------------------- */

/* Start with the first of these that exists: the previous agent's state in the
 * segment; a zone's limit above the minimum, within the bounds; the state file. */
static void recall(adm_child_t *self, tuned_t *tuned, const auto_seen_t *seen)
{
    uint32_t limit = auto_limit(self->segment, tuned->zone->handle);
    bool is_kept = auto_file_find(duty.text, tuned->zone->name, &tuned->kept);
    auto_saved_t kept = tuned->kept;

    if (auto_read(self->segment, tuned->zone->handle, &tuned->law)) {
        return;
    }
    memset(&tuned->law, 0, sizeof(tuned->law));
    if (limit > tuned->zone->min && limit <= tuned->zone->max) {
        law_tune_remember(&tuned->law, limit, 0, 0);
    }
    else if (is_kept
             && auto_file_discard_useless(&kept, time(NULL), seen->total_kb,
                                          seen->cores)) {
        limit = kept.limit < tuned->zone->max ? kept.limit : tuned->zone->max;
        law_tune_remember(&tuned->law, limit, kept.need_kb, kept.largest_kb);
    }
}

/* Start from the recalled state. What is in force at the start is not
 * logged. */
static void begin_zone(adm_child_t *self, tuned_t *tuned,
                       const auto_zone_t *zone, const auto_seen_t *seen)
{
    uint32_t limit = auto_limit(self->segment, zone->handle);

    memset(tuned, 0, sizeof(*tuned));
    tuned->zone = zone;
    recall(self, tuned, seen);
    tuned->logged_limit = limit == ADM_LIMIT_NONE ? zone->min : limit;
    tuned->logged_brakes = tuned->law.brake.times;
}

static void begin(adm_child_t *self, const void *given, apr_pool_t *pool)
{
    const auto_setup_t *setup = given;
    const auto_seen_t *seen;
    uint32_t n;

    memset(&duty, 0, sizeof(duty));
    duty.setup = setup;
    auto_sense_open(&duty.sense, setup->root);
    auto_programs_begin(self, setup->root);
    duty.count = setup->count;
    if (duty.count == 0) {
        return;
    }
    duty.zones = apr_palloc(pool, duty.count * sizeof(*duty.zones));
    duty.handles = apr_palloc(pool, duty.count * sizeof(*duty.handles));
    duty.shares = apr_palloc(pool, duty.count * sizeof(*duty.shares));
    duty.text = apr_palloc(pool, AUTO_FILE_ROOM);
    auto_file_read(setup->state_fd, duty.text);
    seen = auto_sense_sample(&duty.sense, adm_now(), true);
    for (n = 0; n < duty.count; n++) {
        duty.handles[n] = setup->zones[n].handle;
        begin_zone(self, &duty.zones[n], &setup->zones[n], seen);
    }
    duty.next_write = adm_now() + WRITE_USEC;
    if (*auto_sense_missing(&duty.sense) && setup->log_missing) {
        setup->log_missing(setup->data, auto_sense_missing(&duty.sense));
    }
}

/* ---- sample -------------------------------------------------------------------- */

/* If the zone's lock is busy, the sample has only the numbers that need no lock; the
 * next sample covers the rest. */
static void sample_zone(adm_child_t *self, tuned_t *tuned, adm_usec_t now)
{
    tuned->before = tuned->work;
    tuned->is_sampled = true;
    auto_programs_sample_sizes(tuned->zone->handle);
    if (auto_sample(self, tuned->zone->handle, now, &tuned->work, tuned->sizes,
                    PROGRAMS_MOST, &tuned->programs)
            == APR_SUCCESS
        && tuned->sampled_at == 0) {
        tuned->before = tuned->work; /* the first sample has no predecessor */
    }
}

/* @return KiB of the zone's programs in its last sample. */
static uint64_t live_kb(const tuned_t *tuned)
{
    uint64_t sum = 0;
    uint32_t n;

    for (n = 0; n < tuned->programs; n++) {
        sum += tuned->sizes[n];
    }
    return sum;
}

/* ---- divide the memory ------------------------------------------------------------ */

/* @return the zone's claim: KiB that its programs have, or that they would need
 * for all requests that run or wait, up to GROWTH times the limit. */
static uint64_t wanted_kb(const tuned_t *tuned)
{
    uint64_t need = law_tune_need_kb(&tuned->law);
    uint64_t asked = (uint64_t)tuned->work.active + tuned->work.queued;
    uint64_t most = ((uint64_t)tuned->work.limit + 1) * GROWTH;
    uint64_t live = live_kb(tuned);
    uint64_t want = need * (asked < most ? asked : most);

    return want > live ? want : live;
}

/* Divide the memory among the zones by their claims.
 * @return the whole in KiB: available memory and the programs of all zones. */
static uint64_t share_memory(const auto_seen_t *seen)
{
    uint64_t whole = seen->available_kb;
    uint32_t n;

    for (n = 0; n < duty.count; n++) {
        whole += live_kb(&duty.zones[n]);
    }
    if (duty.count > 1) {
        for (n = 0; n < duty.count; n++) {
            duty.shares[n].wanted = wanted_kb(&duty.zones[n]);
        }
        law_share(duty.shares, duty.count, whole);
    }
    return whole;
}

/* @return KiB by which the zone's programs can grow: the whole without these
 * programs and the parts of the other zones. At most what is available now,
 * because other zones can still use more than their parts. */
static uint64_t available_kb(uint32_t number, uint64_t whole, uint64_t there_is)
{
    uint64_t taken = live_kb(&duty.zones[number]);
    uint64_t left;
    uint32_t n;

    for (n = 0; n < duty.count && duty.count > 1; n++) {
        taken += n == number ? 0 : duty.shares[n].part;
    }
    left = whole > taken ? whole - taken : 0;
    return left < there_is ? left : there_is;
}

/* ---- decide ----------------------------------------------------------------------- */

/* Only one zone tries a limit at a time: trials would disturb each other. */
static bool others_try(const tuned_t *tuned)
{
    uint32_t n;

    for (n = 0; n < duty.count; n++) {
        if (&duty.zones[n] != tuned
            && law_tune_show(&duty.zones[n].law, 0).trial) {
            return true;
        }
    }
    return false;
}

static void fill_ended(const tuned_t *tuned, law_tune_sample_t *sample)
{
    const adm_usages_t *now = &tuned->work.programs;
    const adm_usages_t *before = &tuned->before.programs;
    uint64_t largest = tuned->work.peak_kb;

    sample->ended = (uint32_t)(now->count - before->count);
    sample->peak_kb = now->peak_kb - before->peak_kb;
    sample->peak_square_kb2 = now->peak_square_kb2 - before->peak_square_kb2;
    if (sample->ended > 0) {
        sample->peak_largest_kb = largest < UINT32_MAX ? (uint32_t)largest
                                                       : UINT32_MAX;
    }
}

static law_tune_sample_t sample_of(adm_child_t *self, const tuned_t *tuned,
                                   const auto_seen_t *seen, adm_usec_t now)
{
    const auto_work_t *work = &tuned->work, *before = &tuned->before;
    uint32_t limit = auto_limit(self->segment, tuned->zone->handle);
    law_tune_sample_t sample = {
        .now_usec = (uint64_t)now,
        .limit = limit,
        .active = work->active,
        .others_try = others_try(tuned),
        .served = (uint32_t)(work->served - before->served),
        .service_usec = work->service_usec - before->service_usec,
        .service_square_ms2 = work->service_square_msec2
                              - before->service_square_msec2,
        .waited_permille = adm_permille(work->queued_usec - before->queued_usec,
                                        (uint64_t)(now - tuned->sampled_at)),
        .rss_kb = tuned->sizes,
        .programs = tuned->programs,
        .cores = seen->cores,
        .busy_permille = seen->busy_permille,
        .own_permille = seen->own_permille,
        .total_kb = seen->total_kb,
        .stall_permille = seen->stall_permille
    };

    fill_ended(tuned, &sample);
    if (work->limit != limit) {
        /* Another limit applies, such as an override. The automatic limit did not
         * cause the wait. */
        sample.waited_permille = 0;
    }
    return sample;
}

/* Choose and set the zone's limit, and renew its term. */
static void decide(adm_child_t *self, uint32_t number, const auto_seen_t *seen,
                   uint64_t whole, adm_usec_t now)
{
    tuned_t *tuned = &duty.zones[number];
    const law_tune_rules_t rules = { tuned->zone->min, tuned->zone->max };
    law_tune_sample_t sample = sample_of(self, tuned, seen, now);
    uint32_t limit;

    sample.available_kb = available_kb(number, whole, seen->available_kb);
    limit = tuned->zone->is_dry
                ? law_tune_estimate(&tuned->law, &rules, &sample)
                : law_tune(&tuned->law, &rules, &sample);
    tuned->sampled_at = now;
    auto_write(self->segment, tuned->zone->handle, &tuned->law,
               law_tune_safe(&tuned->law, &rules), now);
    if (limit != sample.limit || tuned->is_due) {
        tuned->is_due = !auto_set(self, tuned->zone->handle, limit, now);
    }
}

/* ---- log -------------------------------------------------------------------------- */

/* Log a changed limit, or a brake: each at most once per LOG_USEC and zone. */
static void log_event(adm_child_t *self, tuned_t *tuned, adm_usec_t now)
{
    uint32_t brakes = tuned->law.brake.times;
    bool has_braked = brakes != tuned->logged_brakes;
    _Atomic adm_usec_t *next = has_braked ? &tuned->next_brake_log
                                          : &tuned->next_log;
    auto_news_t news = { .zone = tuned->zone,
                         .before = has_braked ? tuned->law.brake.before
                                              : tuned->logged_limit,
                         .now = tuned->law.limit,
                         .has_braked = has_braked };
    law_tune_shown_t shown;

    if ((news.now == news.before && !has_braked) || !duty.setup->log_event
        || !adm_due(next, now, LOG_USEC)) {
        return;
    }
    auto_view(self->segment, tuned->zone->handle, now, &shown);
    news.reason = law_tune_field_reason(shown.reason);
    auto_sentence(&shown, news.now, news.sentence);
    tuned->logged_limit = news.now;
    tuned->logged_brakes = brakes;
    duty.setup->log_event(duty.setup->data, &news);
}

/* ---- the state file --------------------------------------------------------------- */

/* Update the zone's line if its limit was chosen while requests waited, and held for
 * WRITE_USEC without a trial or a brake. @return whether the line was updated. */
static bool note_kept(tuned_t *tuned, adm_usec_t now)
{
    const law_tune_t *law = &tuned->law;
    auto_saved_t kept = { .limit = law->limit,
                          .need_kb = (uint32_t)law_tune_need_kb(law),
                          .largest_kb = (uint32_t)law->memory.largest_kb,
                          .at = time(NULL),
                          .memory_kb = duty.sense.seen.total_kb,
                          .cores = duty.sense.seen.cores };

    if (tuned->zone->is_dry || law->search.mode != LAW_TUNE_MODE_HOLD
        || law->search.reason == LAW_TUNE_IDLE || law->brake.is_on
        || law_tune_show(law, (uint64_t)now).since_sec
               < WRITE_USEC / ADM_USEC_PER_SEC) {
        return false;
    }
    tuned->kept = kept;
    return true;
}

/* Write the file; zones without an update keep their previous line. */
static void write_state(adm_usec_t now)
{
    bool is_new = false;
    size_t length = 0;
    uint32_t n;

    duty.next_write = now + WRITE_USEC;
    if (duty.setup->state_fd < 0) {
        return;
    }
    for (n = 0; n < duty.count; n++) {
        is_new |= note_kept(&duty.zones[n], now);
    }
    for (n = 0;
         is_new && n < duty.count && length + AUTO_FILE_LINE < AUTO_FILE_ROOM;
         n++) {
        const tuned_t *tuned = &duty.zones[n];

        if (tuned->kept.limit || tuned->kept.need_kb) {
            length += auto_file_line(duty.text + length, tuned->zone->name,
                                     &tuned->kept);
        }
    }
    if (is_new) {
        auto_file_write(duty.setup->state_fd, duty.text, length);
    }
}

/* ---- a pass ------------------------------------------------------------------------- */

/* A zone that has become idle is sampled once more, for its last requests. */
static bool must_sample(adm_child_t *self, const tuned_t *tuned, bool with_idle)
{
    return with_idle || tuned->work.active || tuned->work.queued
           || auto_is_busy(self->segment, tuned->zone->handle);
}

/* Sample, divide the memory, choose the limits. @return whether any zone is busy. */
static bool pass(adm_child_t *self, adm_usec_t now, bool with_idle)
{
    bool slowly = now >= duty.next_tick;
    const auto_seen_t *seen = auto_sense_sample(&duty.sense, now, slowly);
    uint64_t whole;
    uint32_t n;
    bool is_busy = false;

    for (n = 0; n < duty.count; n++) {
        duty.zones[n].is_sampled = false;
        if (must_sample(self, &duty.zones[n], with_idle)) {
            sample_zone(self, &duty.zones[n], now);
            is_busy |= duty.zones[n].work.active || duty.zones[n].work.queued;
        }
    }
    whole = share_memory(seen);
    for (n = 0; n < duty.count; n++) {
        if (duty.zones[n].is_sampled) {
            decide(self, n, seen, whole, now);
            log_event(self, &duty.zones[n], now);
        }
    }
    if (slowly) {
        duty.next_tick = now + TICK_USEC;
    }
    return is_busy;
}

/* Make a pass if one is due: every SAMPLE_USEC while any zone is busy, with the idle zones
 * once per IDLE_USEC; while all zones are idle, every IDLE_USEC, and as soon as a request
 * wakes the agent. @return when to call again. */
static adm_usec_t tune_if_due(adm_child_t *self, adm_usec_t now, bool is_woken)
{
    bool with_idle = now >= duty.next_idle;
    bool is_busy;

    if (duty.count == 0) {
        return now + IDLE_USEC;
    }
    if (now < duty.next_sample && !(is_woken && duty.is_idle)) {
        return duty.next_sample;
    }
    if (with_idle) {
        duty.next_idle = now + IDLE_USEC;
    }
    is_busy = pass(self, now, with_idle);
    if (now >= duty.next_write) {
        write_state(now);
    }
    /* All zones are idle: have the next request wake the agent. This fails if a
     * request has arrived in the meantime. */
    is_busy = is_busy
              || !auto_wake_on_request(self->segment, duty.handles, duty.count,
                                       now);
    duty.is_idle = !is_busy;
    duty.next_sample = now + (is_busy ? SAMPLE_USEC : IDLE_USEC);
    return duty.next_sample;
}

static adm_usec_t run(adm_child_t *self, adm_usec_t now, bool is_woken)
{
    adm_usec_t next = tune_if_due(self, now, is_woken);
    adm_usec_t programs = auto_programs_run(self, &duty.sense, now);

    return next < programs ? next : programs;
}

static void end(adm_child_t *self, adm_usec_t now)
{
    (void)self;
    if (duty.count > 0) {
        write_state(now);
    }
}

const agent_duty_t auto_agent_duty = { .begin = begin, .run = run, .end = end };
