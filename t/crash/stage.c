/* stage.c - before a death, and after it. */
#include <string.h>

#include "scenes.h"

adm_child_t *survivor;
adm_ticket_t held, awaited;

/* ---- before a death ------------------------------------------------------- */

void set_stage(const scene_t *scene)
{
    memset(shared, 0, SHARED_WORDS * sizeof(*shared));
    has_keys = uses_flows;
    zone = zone_called("stage", scene->limit, 10);
    survivor = join();
    if (scene->is_held) {
        ck_assert_int_eq(enter(survivor, zone, &held), ADM_ADMITTED);
    }
    if (scene->is_awaited) {
        ck_assert_int_eq(enter(survivor, zone, &awaited), ADM_WAITING);
    }
    if (scene->before) {
        ck_assert_int_eq(play(scene->before, NULL), -SIGKILL);
    }
}

void follow(const scene_t *scene)
{
    if (scene->is_parallel) {
        WAIT_FOR(atomic_load(&shared[0]) == 1);
        ck_assert_int_eq(enter(survivor, zone, &awaited), ADM_WAITING);
    }
}

/* ---- after a death -------------------------------------------------------- */

/* What has just happened, for messages. */
static const char *played;
static unsigned last_change;

static void must(bool condition, const char *what)
{
    ck_assert_msg(condition, "%s, change %u: %s", played, last_change, what);
}

static uint64_t sum_of(const uint64_t *bucket, unsigned count)
{
    uint64_t sum = 0;

    while (count > 0) {
        sum += bucket[--count];
    }
    return sum;
}

/* What is only shown of a zone need not be complete after a kill, but contradicts nothing. */
static void must_show_what_is_possible(void)
{
    static adm_history_t history;
    adm_zone_stats_t stats;
    const adm_figures_t *figures = &stats.figures;
    const adm_account_t *account = &figures->account;
    int i;

    ck_assert_int_eq(adm_view_zone(survivor, zone, adm_now(), &stats, &history), APR_SUCCESS);
    must(sum_of(figures->wait.bucket, ADM_HISTOGRAM_BUCKETS) <= figures->wait.count
             && sum_of(figures->service.bucket, ADM_HISTOGRAM_BUCKETS) <= figures->service.count
             && sum_of(account->peak_kb.bucket, ADM_SPREAD_BUCKETS) <= account->count
             && sum_of(account->faults.bucket, ADM_SPREAD_BUCKETS) <= account->count,
         "more in buckets than is counted");
    for (i = 1; i < ADM_HISTORY_SECONDS; i++) {
        must(history.rejected[i - 1] <= history.rejected[i], "fewer are rejected than before");
        must(history.limit[i - 1] <= 3, "a limit that never was");
    }
    must(history.rejected[i - 1] <= adm_figures_rejected(figures)
             && history.active[i - 1] >= stats.active && history.queued[i - 1] >= stats.queued
             && history.limit[i - 1] == stats.limit,
         "the history does not end with now");
}

static void must_be_whole(void)
{
    const char *wrong = adm_check(segment);

    must(!wrong, wrong);
    must_show_what_is_possible();
}

/* The dead left nothing in the table of children but the survivor. */
static void must_be_alone(void)
{
    uint32_t idx;

    for (idx = 1; idx <= segment->sizes.children; idx++) {
        enum adm_life_state_t state = adm_life_state(
            atomic_load(&adm_child_at(segment, idx)->life));

        must(state == (idx == survivor->idx ? ADM_LIFE_LIVE : ADM_LIFE_FREE), "a record is left");
    }
}

void survive(const scene_t *scene, unsigned change)
{
    bool is_in_line = scene->is_awaited || scene->is_parallel;
    adm_ticket_t next;
    int round;

    played = scene->name;
    last_change = change;
    /* More than once: until an orphaned program is given up. */
    for (round = 0; round < 4; round++) {
        adm_round(survivor, adm_now() + round * ADM_USEC_PER_SEC, true);
    }
    must_be_whole();
    share_again(survivor);
    must(active_in(zone) == (scene->is_held || is_in_line), "permits are lost or too many");
    must(queued_in(zone) == (scene->is_held && is_in_line), "the queue is wrong");
    if (scene->is_held) {
        must(adm_ticket_is_granted(&held), "the survivor's permit is gone");
        leave(&held);
    }
    if (is_in_line) {
        must(adm_ticket_is_granted(&awaited), "the first in line got nothing");
        must(wait_until(&awaited, 0) == ADM_WAITED, "it cannot begin");
        leave(&awaited);
    }
    /* The next one finds a zone as if nothing had been. */
    must(active_in(zone) == 0, "a permit is left");
    zone_called("stage", 1, 10);
    must(enter(survivor, zone, &next) == ADM_ADMITTED, "the next one cannot enter");
    leave(&next);
    must_be_whole();
    must_be_alone();
}
