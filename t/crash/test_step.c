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

#include "test_scenes.h"
#include "test_traced.h"
#include "core/adm_worker.h"

static adm_ticket_t ticket; /* of the victim */

/* ---- stories of victims -------------------------------------------------- */

static int enter_with_worker(void *unused)
{
    child = join();
    arm();
    enter_as(child, zone, BLOCKS, adm_now(), &ticket);
    leave(&ticket);
    return 0;
}

static int cancel_before_another(void *unused)
{
    child = join();
    NEED(enter(child, zone, &ticket) == ADM_WAITING);
    wait_for_another();
    arm();
    adm_ticket_cancel(&ticket, ADM_GONE, adm_now());
    return 0;
}

static int park(void *unused)
{
    child = join();
    enter(child, zone, &ticket);
    arm();
    adm_ticket_park(&ticket, 7);
    adm_ticket_unpark(&ticket);
    return 0;
}

/* Hands over, and gets the permit back because it is not used. */
static int pass_on(void *unused)
{
    adm_ticket_t again;

    child = join();
    enter(child, zone, &ticket);
    wait_for_another();
    arm();
    leave(&ticket);
    enter(child, zone, &again);
    adm_lease_check(child, zone, adm_now() + ADM_USEC_PER_SEC);
    NEED(adm_ticket_begin(&again, adm_now()));
    leave(&again);
    return 0;
}

/* The queue is closed first: it is counted as rejected. */
static int be_rejected(void *unused)
{
    const adm_override_t none_waits = { ADM_OVERRIDE_KEEP, 0, ADM_OVERRIDE_KEEP };
    adm_override_t before, after;

    child = join();
    adm_override_set(child, zone, &none_waits, adm_now(), &before, &after);
    arm();
    return enter(child, zone, &ticket) == ADM_FULL ? 0 : 1;
}

/* Its program has ended and is a zombie, of which all is known. */
static int leave_after_program(void *unused)
{
    adm_ticket_rec_t *rec;
    siginfo_t info;
    sigset_t child_ends;
    pid_t program;

    child = join();
    enter(child, zone, &ticket);
    rec = rec_of_ticket(&ticket);
    sigemptyset(&child_ends);
    sigaddset(&child_ends, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child_ends, NULL); /* it would stop the child */
    program = fork();
    if (program == 0) {
        _exit(0);
    }
    waitid(P_PID, (id_t)program, &info, WEXITED | WNOWAIT);
    atomic_store(&rec->programs, 1);
    atomic_store(&rec->program, ticket.arrival << 32 | (uint32_t)program);
    arm();
    leave(&ticket);
    return 0;
}

/* Not the first: that one fills ten minutes of a history, store by store. */
static int order(void *unused)
{
    const adm_override_t one = { 1, ADM_OVERRIDE_KEEP, ADM_OVERRIDE_KEEP };
    const adm_override_t more = { 3, ADM_OVERRIDE_KEEP, ADM_OVERRIDE_KEEP };
    adm_override_t before, after;

    child = join();
    adm_override_set(child, zone, &one, adm_now(), &before, &after);
    arm();
    adm_override_set(child, zone, &more, adm_now(), &before, &after);
    return 0;
}

static const scene_t stepped[] = {
    { "enters and leaves", 0, NULL, enter_and_leave, FREE },
    { "gets in line and cancels", 0, NULL, enter_and_cancel, HELD },
    { "takes a worker", 0, NULL, enter_with_worker, FREE },
    { "blocks a worker", 0, NULL, enter_with_worker, HELD },
    { "cancels before another", 0, NULL, cancel_before_another, HELD, .is_parallel = true },
    { "is rejected", 0, NULL, be_rejected, HELD },
    { "leaves after its program", 0, NULL, leave_after_program, FREE },
    { "orders", 0, NULL, order, HELD },
    { "parks", 0, NULL, park, HELD },
    { "moves on", 0, NULL, move_on, PARALLEL },
    { "passes on", 0, NULL, pass_on, PARALLEL },
    { "registers", 0, NULL, register_only, HELD_AND_AWAITED },
    { "registers and reaps a runner", 0, die_with_ticket, register_only, FREE },
    { "registers and reaps a waiter", 0, die_with_ticket, register_only, HELD_AND_AWAITED },
    { "registers and rebuilds", 0, die_inside_the_lock, register_only, HELD_AND_AWAITED },
    { "enters and rebuilds", 0, die_inside_the_lock, enter_and_leave, FREE },
    { "orphans, and gives up an orphan", 0, die_with_program, audit_and_audit, FREE },
    { "gets in line behind another and cancels", 0, NULL, enter_and_cancel, HELD_AND_AWAITED },
    { "leaves before a line", 0, NULL, hand_over, PARALLEL },
    { "leaves without the lock", 0, NULL, enter_and_leave_to_others, FREE },
};
#define STEPPED (int)(sizeof(stepped) / sizeof(stepped[0]))

/* The last ones are played in a zone with flows as well. */
#define OF_FLOWS (STEPPED - 3)

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

    ck_assert(steps_to_change(pid, change));
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

/* Loop test over the scenes. */
TESTS(a_death_at_any_store_is_mended, 0, STEPPED)
{
    try_each_store(&stepped[_i]);
}

TESTS(a_death_at_any_store_to_flows_is_mended, OF_FLOWS, STEPPED)
{
    uses_flows = true;
    try_each_store(&stepped[_i]);
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
