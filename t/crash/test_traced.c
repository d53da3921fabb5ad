/* test_traced.c - a process that is stopped after each of its stores. */
#include <linux/futex.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test_scenes.h"
#include "test_traced.h"

/* ---- the hand that kills ------------------------------------------------- */

/* The segment as it was an instruction ago. */
static void *seen;
static size_t seen_bytes;

static void see_segment(void)
{
    if (seen_bytes != adm_segment_bytes(segment)) {
        seen_bytes = adm_segment_bytes(segment);
        free(seen);
        seen = malloc(seen_bytes);
        ck_assert_ptr_nonnull(seen);
    }
    memcpy(seen, segment->base, seen_bytes);
}

static bool segment_has_changed(void)
{
    if (memcmp(seen, segment->base, seen_bytes) == 0) {
        return false;
    }
    see_segment();
    return true;
}

static int ask_to_be_traced(void *unused)
{
    return ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0 ? 0 : 1;
}

bool can_trace(void)
{
    bool can = play(ask_to_be_traced, NULL) == 0;

    if (!can) {
        printf("# tracing is not allowed here\n");
    }
    return can;
}

static int be_traced(void *victim)
{
    ask_to_be_traced(NULL);
    is_traced = true;
    return (*(story_t *)victim)(NULL);
}

pid_t start_traced(story_t victim)
{
    return start(be_traced, &victim);
}

void reach_steps(pid_t pid)
{
    int status;

    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert(WIFSTOPPED(status) && WSTOPSIG(status) == SIGSTOP);
}

static int last_code; /* of a story that has ended */

bool steps_to_change(pid_t pid, unsigned changes)
{
    int status;

    see_segment();
    while (changes) {
        ck_assert_int_eq(ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL), 0);
        ck_assert_int_eq(waitpid(pid, &status, 0), pid);
        if (!WIFSTOPPED(status)) {
            ck_assert(WIFEXITED(status));
            last_code = WEXITSTATUS(status);
            return false;
        }
        changes -= segment_has_changed();
    }
    return true;
}

int end_of_steps(pid_t pid)
{
    int status;

    ck_assert_int_eq(ptrace(PTRACE_CONT, pid, NULL, NULL), 0);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert(WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* ---- all that it leaves behind ------------------------------------------- */

#define CHANGES_MAX 1000

static void *kept[CHANGES_MAX + 1];
static pid_t recorded;

static void keep_change(unsigned change)
{
    size_t bytes = adm_segment_bytes(segment);

    ck_assert_uint_le(change, CHANGES_MAX);
    if (!kept[change]) {
        kept[change] = malloc(bytes);
        ck_assert_ptr_nonnull(kept[change]);
    }
    memcpy(kept[change], segment->base, bytes);
}

unsigned record_changes(pid_t pid)
{
    unsigned changes = 0;

    recorded = pid;
    keep_change(0);
    while (steps_to_change(pid, 1)) {
        keep_change(++changes);
    }
    ck_assert_int_eq(last_code, 0);
    return changes;
}

/* What the kernel does for each robust mutex that its owner takes to the grave. */
static void mark_as_kernel_does(adm_lock_t *lock)
{
    uint32_t word = (uint32_t)lock->mutex.__data.__lock;

    if ((word & FUTEX_TID_MASK) == (uint32_t)recorded) {
        lock->mutex.__data.__lock = (int)((word & FUTEX_WAITERS) | FUTEX_OWNER_DIED);
    }
}

void bring_back_change(unsigned change)
{
    uint32_t idx;

    memcpy(segment->base, kept[change], adm_segment_bytes(segment));
    for (idx = 1; idx <= segment->sizes.zones; idx++) {
        mark_as_kernel_does(&adm_zone_at(segment, idx)->lock);
    }
    for (idx = 1; idx <= segment->sizes.children; idx++) {
        mark_as_kernel_does(&adm_child_at(segment, idx)->alive);
    }
}

/* ---- what is shown ------------------------------------------------------- */

static uint64_t sum_of(const uint64_t *bucket, unsigned count)
{
    uint64_t sum = 0;

    while (count > 0) {
        sum += bucket[--count];
    }
    return sum;
}

void assert_shown_is_possible(adm_child_t *looker, adm_zone_t zone, const char *scene,
                              unsigned change)
{
    adm_zone_stats_t stats;
    adm_history_t history;
    const adm_figures_t *figures = &stats.figures;
    const adm_account_t *account = &figures->account;
    int i;

    ck_assert_int_eq(adm_view_zone(looker, zone, adm_now(), &stats, &history), APR_SUCCESS);
    ck_assert_msg(sum_of(figures->wait.bucket, ADM_HISTOGRAM_BUCKETS) <= figures->wait.count
                      && sum_of(figures->service.bucket, ADM_HISTOGRAM_BUCKETS)
                             <= figures->service.count
                      && sum_of(account->peak_kb.bucket, ADM_SPREAD_BUCKETS) <= account->count
                      && sum_of(account->faults.bucket, ADM_SPREAD_BUCKETS) <= account->count,
                  "%s: after change %u: more in buckets than is counted", scene, change);
    for (i = 1; i < ADM_HISTORY_SECONDS; i++) {
        ck_assert_msg(history.rejected[i - 1] <= history.rejected[i] && history.limit[i - 1] <= 3,
                      "%s: after change %u: second %d has %ju rejected, limit "
                      "%u",
                      scene, change, i, (uintmax_t)history.rejected[i - 1], history.limit[i - 1]);
    }
    ck_assert_msg(history.rejected[i - 1] <= adm_figures_rejected(figures)
                      && history.active[i - 1] >= stats.active
                      && history.queued[i - 1] >= stats.queued
                      && history.limit[i - 1] == stats.limit,
                  "%s: after change %u: the history does not end with now", scene, change);
}
