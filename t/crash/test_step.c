/* test_step.c - a process is killed, or stopped, at each of its stores to the
 * segment.
 *
 * The fault points of test_crash.c are where the author thought that a kill
 * would hurt; here nobody has to think. The victim is traced and makes one
 * machine instruction after the other to the end of its story, and the segment
 * is kept as each store leaves it. A death leaves nothing but these bytes and a
 * process that is no more: the survivor repairs each of them in turn, and those
 * of one real kill in the middle.
 */
#include <linux/futex.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "core/adm_worker.h"
#include "scenes.h"

WITH_FLOWS_TOO;

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

/* @return whether tracing is possible; else it says that it is not. */
static bool can_trace(void)
{
    bool can = play(ask_to_be_traced, NULL) == 0;

    if (!can) {
        printf("# tracing is not allowed here\n");
    }
    return can;
}

static int be_traced(void *victim)
{
    sigset_t child_ends;

    sigemptyset(&child_ends);
    sigaddset(&child_ends, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child_ends, NULL); /* it would stop the process */
    ask_to_be_traced(NULL);
    is_traced = true;
    return (*(story_t *)victim)(NULL);
}

/* Play the story of a victim, traced, in a process of its own. */
static pid_t start_traced(story_t victim)
{
    return start(be_traced, &victim);
}

/* Let it run up to where it would arm. */
static void reach_steps(pid_t pid)
{
    int status;

    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert(WIFSTOPPED(status) && WSTOPSIG(status) == SIGSTOP);
}

static int last_code; /* of a story that has ended */

/* Step until the segment has changed so often. @return false if the story ended before. */
static bool steps_to_change(pid_t pid, unsigned changes)
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

/* Let it go on to the end of its story. @return its exit code. */
static int end_of_steps(pid_t pid)
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

/* Step to the end of the story, and keep the segment as it is before the first step and
 * after each change. @return the number of changes. */
static unsigned record_changes(pid_t pid)
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

/* Make the segment what a kill after a change of the last recording, of which the process has
 * ended, would leave; 0: before the first. */
static void bring_back_change(unsigned change)
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

/* ---- one death ----------------------------------------------------------- */

/* @return its process, stopped before its first step. */
static pid_t start_scene(const scene_t *scene)
{
    pid_t pid;

    make_segment(1, 4, 64);
    set_stage(scene);
    pid = start_traced(scene->victim);
    follow(scene);
    reach_steps(pid);
    return pid;
}

/* @return changes. */
static unsigned try_every_end(const scene_t *scene)
{
    pid_t pid = start_scene(scene);
    const adm_child_t survivor_before = *survivor;
    const adm_ticket_t held_before = held, awaited_before = awaited;
    unsigned change, changes = record_changes(pid);

    for (change = 0; change <= changes; change++) {
        bring_back_change(change);
        *survivor = survivor_before;
        held = held_before;
        awaited = awaited_before;
        survive(scene, change);
    }
    return changes;
}

static void try_a_kill(const scene_t *scene, unsigned change)
{
    pid_t pid = start_scene(scene);

    /* The process of the recording might have waited longer, and changed more. */
    if (!steps_to_change(pid, change)) {
        try_a_kill(scene, change / 2);
        return;
    }
    kill_unnoticed(pid);
    survive(scene, change);
}

static void try_each_store(const scene_t *scene)
{
    unsigned changes;

    if (!can_trace()) {
        return;
    }
    changes = try_every_end(scene);
    printf("# who %s: %u changes\n", scene->name, changes);
    ck_assert_uint_gt(changes, 3);
    try_a_kill(scene, changes / 2);
}

TESTS(a_death_at_any_store_is_mended, 0, scene_count)
{
    const scene_t *scene = &scenes[_i];

    if (uses_flows ? scene->has_stores_to_flows : scene->has_stores) {
        try_each_store(scene);
    }
}

/* ---- two at once -------------------------------------------------------- */

static int take_worker(void *unused)
{
    child = join();
    arm();
    return adm_worker_take(child, false) ? 1 : 2;
}

/* The other one is stopped after each of its stores in turn, while this one
 * takes its worker. */
TEST(of_two_that_ask_for_the_last_worker_one_at_most_gets_it)
{
    unsigned change;
    bool is_stopped = can_trace();

    for (change = 0; is_stopped; change++) {
        pid_t pid;
        bool is_taken;

        make_segment(1, 4, 64);
        set_worker_cap(1);
        survivor = join();
        pid = start_traced(take_worker);
        reach_steps(pid);
        is_stopped = steps_to_change(pid, change);
        is_taken = adm_worker_take(survivor, false);
        ck_assert_msg(!is_stopped || !is_taken || end_of_steps(pid) == 2,
                      "both got the last worker: change %u", change);
        if (is_stopped && !is_taken) {
            end_of_steps(pid);
        }
    }
    ck_assert_uint_ne(change, 1);
    ck_assert_uint_ne(change, 2);
}
