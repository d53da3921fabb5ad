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
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test_traced.h"
#include "core/adm_worker.h"
#include "core/adm_zone.h"

static adm_child_t *survivor;
static adm_ticket_t held, awaited;

/* As long as a program is waited for that nobody sees. */
#define ORPHAN_HOLD_USEC (2 * ADM_USEC_PER_SEC)

/* ---- stories of victims -------------------------------------------------- */

static adm_child_t *victim;
static adm_ticket_t ticket;

static void enter_first(void)
{
    victim = join();
    enter(victim, zone, &ticket);
    begin_steps();
}

static int step_enter(void)
{
    victim = join();
    begin_steps();
    enter(victim, zone, &ticket);
    return 0;
}

static int step_leave(void)
{
    enter_first();
    leave(&ticket);
    return 0;
}

static int step_move_on(void)
{
    adm_ticket_t heir = { 0 };
    char name[ADM_TICKET_NAME_LENGTH];

    victim = join();
    enter(victim, zone, &ticket);
    adm_ticket_name(&ticket, name);
    begin_steps();
    adm_who_note_sent(&ticket, 1);
    adm_successor_take(victim, zone, name, adm_now(), &heir);
    leave(&ticket);
    leave(&heir);
    return 0;
}

static int step_leave_to_others(void)
{
    adm_zone_rec_t *rec = rec_of_zone(zone);

    victim = join();
    enter(victim, zone, &ticket);
    adm_lock_acquire(&rec->lock, NEVER);
    begin_steps();
    leave(&ticket);
    adm_zone_unlock(segment, rec, adm_now());
    return 0;
}

static int step_cancel(void)
{
    enter_first();
    adm_ticket_cancel(&ticket, ADM_GONE, adm_now());
    return 0;
}

static int step_enter_with_worker(void)
{
    victim = join();
    begin_steps();
    enter_as(victim, zone, BLOCKS, adm_now(), &ticket);
    leave(&ticket);
    return 0;
}

static int step_park(void)
{
    enter_first();
    adm_ticket_park(&ticket, 7);
    adm_ticket_unpark(&ticket);
    return 0;
}

/* Hands over, and gets the permit back because it is not used. */
static int step_pass_on(void)
{
    adm_ticket_t again;

    enter_first();
    leave(&ticket);
    enter(victim, zone, &again);
    adm_lease_check(victim, zone, adm_now() + ADM_USEC_PER_SEC);
    if (!adm_ticket_begin(&again, adm_now())) {
        return 1;
    }
    leave(&again);
    return 0;
}

/* The queue is closed first: it is counted as rejected. */
static int step_rejected(void)
{
    const adm_override_t none_waits = { ADM_OVERRIDE_KEEP, 0, ADM_OVERRIDE_KEEP };
    adm_override_t before, after;

    victim = join();
    adm_override_set(victim, zone, &none_waits, adm_now(), &before, &after);
    begin_steps();
    return enter(victim, zone, &ticket) == ADM_FULL ? 0 : 1;
}

/* Its program has ended and is a zombie, of which all is known. */
static int step_leave_after_program(void)
{
    adm_ticket_rec_t *rec;
    siginfo_t info;
    sigset_t child_ends;
    pid_t program;

    victim = join();
    enter(victim, zone, &ticket);
    rec = rec_of_ticket(&ticket);
    sigemptyset(&child_ends);
    sigaddset(&child_ends, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child_ends, NULL); /* it would stop the victim */
    program = fork();
    if (program == 0) {
        _exit(0);
    }
    waitid(P_PID, (id_t)program, &info, WEXITED | WNOWAIT);
    atomic_store(&rec->programs, 1);
    atomic_store(&rec->program, ticket.arrival << 32 | (uint32_t)program);
    begin_steps();
    leave(&ticket);
    return 0;
}

/* Not the first: that one fills ten minutes of a history, store by store. */
static int step_order(void)
{
    const adm_override_t one = { 1, ADM_OVERRIDE_KEEP, ADM_OVERRIDE_KEEP };
    const adm_override_t more = { 3, ADM_OVERRIDE_KEEP, ADM_OVERRIDE_KEEP };
    adm_override_t before, after;

    victim = join();
    adm_override_set(victim, zone, &one, adm_now(), &before, &after);
    begin_steps();
    adm_override_set(victim, zone, &more, adm_now(), &before, &after);
    return 0;
}

static int step_register(void)
{
    begin_steps();
    join();
    return 0;
}

static int step_audit(void)
{
    victim = join();
    begin_steps();
    adm_round(victim, adm_now() + 2 * ORPHAN_HOLD_USEC, true);
    return 0;
}

/* ---- scenes -------------------------------------------------------------- */

static int die_waiting(void *unused)
{
    victim = join();
    enter(victim, zone, &ticket);
    atomic_store(shared, 1);
    return stay();
}

static int die_running_a_program(void *unused)
{
    victim = join();
    enter(victim, zone, &ticket);
    adm_program_announce(&ticket, ADM_START_UNSEEN);
    atomic_store(shared, 1);
    return stay();
}

static int die_inside_the_lock(void *unused)
{
    victim = join();
    adm_fault_arm(ADM_FAULT_enter_stored, 1);
    enter(victim, zone, &ticket);
    return 0;
}

typedef struct scene_t {
    const char *name;
    int (*steps)(void);
    story_t left_behind; /* dies before the steps begin, noticed by nobody */
    bool is_held;        /* the survivor has the permit */
    bool is_awaited;     /* the survivor stands in line before the victim */
    bool is_followed;    /* the survivor gets in line behind the victim */
    bool is_orphaned;    /* what was left behind is an orphan already, and its
                          * time is up; else no orphan has any time */
} scene_t;

static const scene_t scenes[] = {
    { "enters", step_enter, NULL, .is_held = false },
    { "gets in line", step_enter, NULL, .is_held = true },
    { "gets in line behind another", step_enter, NULL, .is_held = true, .is_awaited = true },
    { "takes a worker", step_enter_with_worker, NULL, .is_held = false },
    { "blocks a worker", step_enter_with_worker, NULL, .is_held = true },
    { "leaves", step_leave, NULL, .is_held = false },
    { "leaves before a line", step_leave, NULL, .is_followed = true },
    { "moves on", step_move_on, NULL, .is_held = false },
    { "moves on before a line", step_move_on, NULL, .is_followed = true },
    { "leaves without the lock", step_leave_to_others, NULL, .is_held = false },
    { "cancels", step_cancel, NULL, .is_held = true },
    { "cancels before another", step_cancel, NULL, .is_held = true, .is_followed = true },
    { "cancels behind another", step_cancel, NULL, .is_held = true, .is_awaited = true },
    { "is rejected", step_rejected, NULL, .is_held = true },
    { "leaves after its program", step_leave_after_program, NULL, .is_held = false },
    { "orders", step_order, NULL, .is_held = true },
    { "parks", step_park, NULL, .is_held = true },
    { "passes on", step_pass_on, NULL, .is_followed = true },
    { "registers", step_register, NULL, .is_held = true, .is_awaited = true },
    { "registers and reaps a runner", step_register, die_waiting, .is_held = false },
    { "registers and reaps a waiter", step_register, die_waiting, .is_held = true,
      .is_awaited = true },
    { "registers and orphans", step_register, die_running_a_program, .is_held = false },
    { "registers and rebuilds", step_register, die_inside_the_lock, .is_held = true,
      .is_awaited = true },
    { "enters and rebuilds", step_enter, die_inside_the_lock, .is_held = false },
    { "gives up an orphan", step_audit, die_running_a_program, .is_orphaned = true },
};
#define SCENES (int)(sizeof(scenes) / sizeof(scenes[0]))

/* Those that are played in a zone with flows as well. */
static const int of_flows[] = { 2, 6, 9, 12 };
#define FLOW_SCENES (int)(sizeof(of_flows) / sizeof(of_flows[0]))

/* ---- one death ----------------------------------------------------------- */

static void leave_something_behind(const scene_t *scene)
{
    pid_t pid;
    int end;

    if (!scene->left_behind) {
        return;
    }
    pid = start(scene->left_behind, NULL);
    if (scene->left_behind != die_inside_the_lock) {
        WAIT_FOR(atomic_load(shared) == 1);
        kill(pid, SIGKILL);
    }
    end = end_of(pid);
    ck_assert_int_eq(end, -SIGKILL);
    if (scene->is_orphaned) {
        adm_round(survivor, adm_now(), true);
        ck_assert_uint_eq(orphans_in(zone), 1);
    }
}

static void set_scene(const scene_t *scene)
{
    make_segment(1, 4, 64);
    atomic_store(shared, 0);
    has_keys = uses_flows;
    zone = zone_called("stage", 1, 10);
    adm_segment_begin_load(segment);
    adm_segment_end_load(segment, 1000, scene->is_orphaned ? ORPHAN_HOLD_USEC : 0);
    survivor = join();
    if (scene->is_held) {
        ck_assert_int_eq(enter(survivor, zone, &held), ADM_ADMITTED);
    }
    if (scene->is_awaited) {
        ck_assert_int_eq(enter(survivor, zone, &awaited), ADM_WAITING);
    }
    if (!scene->is_orphaned) {
        leave_something_behind(scene);
    }
}

static void assert_repaired(const scene_t *scene, unsigned change)
{
    bool is_in_line = scene->is_awaited || scene->is_followed;
    const char *wrong;
    adm_ticket_t next;
    int round;
    uint32_t idx, children = 0;

    for (round = 0; round < 4; round++) {
        adm_round(survivor, adm_now() + round * ADM_USEC_PER_SEC, true);
    }
    wrong = adm_check(segment);
    ck_assert_msg(!wrong, "%s: after change %u: %s", scene->name, change, wrong);
    ck_assert_msg(active_in(zone) == (scene->is_held || is_in_line)
                      && queued_in(zone) == (scene->is_held && is_in_line),
                  "%s: after change %u: %u active, %u in line", scene->name, change,
                  active_in(zone), queued_in(zone));
    assert_shown_is_possible(survivor, zone, scene->name, change);
    if (scene->is_held) {
        leave(&held);
    }
    if (is_in_line) {
        ck_assert_msg(adm_ticket_is_granted(&awaited),
                      "%s: after change %u: the first in line got nothing", scene->name, change);
        leave(&awaited);
    }
    ck_assert_msg(enter(survivor, zone, &next) == ADM_ADMITTED,
                  "%s: after change %u: the next one cannot enter", scene->name, change);
    leave(&next);
    assert_shown_is_possible(survivor, zone, scene->name, change);
    for (idx = 1; idx <= segment->sizes.children; idx++) {
        children += atomic_load(&adm_child_at(segment, idx)->life) & 0xff ? 1 : 0;
    }
    ck_assert_msg(children == 1, "%s: after change %u: a record is left", scene->name, change);
    wrong = adm_check(segment);
    ck_assert_msg(!wrong, "%s: after change %u: %s", scene->name, change, wrong);
}

/* @return its process, stopped before its first step; 0 if it cannot be traced. */
static pid_t start_scene(const scene_t *scene)
{
    pid_t pid;

    set_scene(scene);
    pid = start_traced(scene->steps);
    if (!reaches_its_steps(pid)) {
        return 0;
    }
    if (scene->is_orphaned) {
        leave_something_behind(scene);
    }
    if (scene->is_followed) {
        ck_assert_int_eq(enter(survivor, zone, &awaited), ADM_WAITING);
    }
    return pid;
}

/* @return changes; 0 if nothing can be traced. */
static unsigned try_every_end(const scene_t *scene)
{
    pid_t pid = start_scene(scene);
    const adm_child_t survivor_before = *survivor;
    const adm_ticket_t held_before = held, awaited_before = awaited;
    unsigned change, changes;

    if (pid == 0) {
        return 0;
    }
    changes = record_changes(pid);
    for (change = 0; change <= changes; change++) {
        bring_back_change(change);
        *survivor = survivor_before;
        held = held_before;
        awaited = awaited_before;
        assert_repaired(scene, change);
    }
    return changes;
}

static void try_a_kill(const scene_t *scene, unsigned change)
{
    pid_t pid = start_scene(scene);
    int status;

    ck_assert(steps_to_change(pid, change));
    kill(pid, SIGKILL);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    assert_repaired(scene, change);
}

/* Loop test over the scenes. */
static void try_each_store(const scene_t *scene)
{
    unsigned changes;

    make_segment(1, 4, 64);
    make_copy();
    changes = try_every_end(scene);
    if (changes == 0) {
        printf("# tracing is not allowed here\n");
        return;
    }
    printf("# who %s: %u changes\n", scene->name, changes);
    ck_assert_uint_gt(changes, 3);
    try_a_kill(scene, changes / 2);
    assert_segment_consistent();
}

TESTS(a_death_at_any_store_is_mended, 0, SCENES)
{
    try_each_store(&scenes[_i]);
}

TESTS(a_death_at_any_store_to_flows_is_mended, 0, FLOW_SCENES)
{
    uses_flows = true;
    try_each_store(&scenes[of_flows[_i]]);
}

/* ---- two at once -------------------------------------------------------- */

static int step_take_worker(void)
{
    victim = join();
    begin_steps();
    return adm_worker_take(victim, false) ? 1 : 2;
}

/* The other one is stopped after each of its stores in turn, while this one
 * takes its worker. */
TEST(of_two_that_ask_for_the_last_worker_one_at_most_gets_it)
{
    unsigned change;
    bool is_stopped = true;

    make_segment(1, 4, 64);
    make_copy();
    for (change = 0; is_stopped; change++) {
        pid_t pid;
        bool is_taken;

        make_segment(1, 4, 64);
        set_worker_cap(1);
        survivor = join();
        pid = start_traced(step_take_worker);
        if (!reaches_its_steps(pid)) {
            printf("# tracing is not allowed here\n");
            return;
        }
        is_stopped = steps_to_change(pid, change);
        is_taken = adm_worker_take(survivor, false);
        ck_assert_msg(!is_stopped || !is_taken || end_of_steps(pid) == 2,
                      "both got the last worker: change %u", change);
        if (is_stopped && !is_taken) {
            end_of_steps(pid);
        }
    }
    ck_assert_uint_gt(change, 2);
}
