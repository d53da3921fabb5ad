/* scenes.c - what the processes do that test_crash.c and test_step.c kill. */
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "auto/auto_shm.h"
#include "core/adm_agent.h"
#include "core/adm_limit.h"
#include "core/adm_zone.h"
#include "fleet/fleet_shm.h"
#include "spool/spool_shm.h"
#include "scenes.h"

/* The next victim dies when it reaches this point for the nth time. */
static adm_fault_t point;
static unsigned nth;

void aim(adm_fault_t at, unsigned times)
{
    point = at;
    nth = times;
}

bool is_traced;

static adm_ticket_t ticket; /* of the victim, whose child is the global one */

/* ---- stories of victims -------------------------------------------------- */

void arm(void)
{
    if (is_traced) {
        raise(SIGSTOP);
    }
    else {
        adm_fault_arm(point, nth);
    }
}

static bool gets_permit(void)
{
    child = join();
    return enter(child, zone, &ticket) == ADM_ADMITTED;
}

/* Until somebody stands behind it. */
static void wait_for_another(void)
{
    uint32_t before = queued_in(zone);
    adm_usec_t give_up = deadline();

    atomic_store(&shared[0], 1);
    while (queued_in(zone) == before && adm_now() < give_up) {
        pause_briefly();
    }
}

/* Until a program that is not there counts as gone. */
static void audit_for_seconds(void)
{
    adm_round(child, adm_now(), true);
    adm_round(child, adm_now() + ADM_USEC_PER_SEC, true);
    adm_round(child, adm_now() + 2 * ADM_USEC_PER_SEC, true);
}

/* With a worker. */
static int enter_and_leave(void *unused)
{
    child = join();
    arm();
    enter_as(child, zone, BLOCKS, adm_now(), &ticket);
    leave(&ticket);
    return 0;
}

static int enter_and_cancel(void *unused)
{
    child = join();
    arm();
    NEED(enter(child, zone, &ticket) == ADM_WAITING);
    adm_ticket_park(&ticket, 7);
    adm_ticket_unpark(&ticket);
    adm_ticket_sleep(&ticket, adm_now() + 1);
    adm_ticket_cancel(&ticket, ADM_GONE, adm_now());
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

/* Holds the permit until somebody stands behind it. */
static int hand_over(void *unused)
{
    NEED(gets_permit());
    wait_for_another();
    arm();
    leave(&ticket);
    return 0;
}

/* Its permit moves on while somebody waits. */
static int move_on(void *unused)
{
    adm_ticket_t heir = { 0 };
    char name[ADM_TICKET_NAME_LENGTH];

    NEED(gets_permit());
    adm_ticket_name(&ticket, name);
    wait_for_another();
    arm();
    adm_who_note_sent(&ticket, 1);
    NEED(adm_successor_take(child, zone, name, adm_now(), &heir) == ADM_SUCCESSOR_MOVED);
    leave(&ticket);
    leave(&heir);
    return 0;
}

/* Hands over to itself, begins, and leaves. */
static int begin_and_leave(void *unused)
{
    adm_ticket_t before;

    child = join();
    NEED(enter(child, zone, &before) == ADM_ADMITTED);
    NEED(enter(child, zone, &ticket) == ADM_WAITING);
    arm();
    leave(&before);
    NEED(adm_ticket_begin(&ticket, adm_now()));
    leave(&ticket);
    return 0;
}

/* A raised limit is handed out; it gets what somebody before it won. */
static int pass_on(void *unused)
{
    child = join();
    enter(child, zone, &ticket);
    adm_limit_set(rec_of_zone(zone), ADM_LIMIT_CONFIGURED, 1);
    arm();
    adm_round(child, adm_now(), true);
    adm_lease_check(child, zone, adm_now() + ADM_LEASE_USEC);
    return 0;
}

/* Its zone cannot be locked when it leaves, here because it is locked already. */
static void leave_without_lock(void)
{
    adm_zone_rec_t *rec = rec_of_zone(zone);

    if (adm_lock_acquire(&rec->lock, NEVER) == ADM_LOCKED) {
        leave(&ticket);
        adm_zone_unlock(child->segment, rec, adm_now());
    }
}

static int enter_and_leave_to_others(void *unused)
{
    child = join();
    NEED(enter(child, zone, &ticket) == ADM_ADMITTED);
    arm();
    leave_without_lock();
    return 0;
}

/* Arms before it registers: the story is that, and what there is to mend. */
static int register_only(void *unused)
{
    arm();
    join();
    return 0;
}

/* Its program ends before, and is a zombie of which all is known. One that is killed on its way
 * takes its child along, as a kill of their process group does. */
static void leave_after_program(void)
{
    siginfo_t info;
    pid_t program;

    adm_program_announce(&ticket, ADM_START_HERE);
    program = fork();
    if (program == 0) {
        _exit(0);
    }
    waitid(P_PID, (id_t)program, &info, WEXITED | WNOWAIT);
    if (info.si_code == CLD_KILLED) {
        kill(getpid(), SIGKILL);
    }
    if (is_traced) {
        arm(); /* not before the fork */
    }
    leave(&ticket);
    waitpid(program, NULL, 0);
}

static int enter_with_program(void *unused)
{
    child = join();
    if (!is_traced) {
        arm();
    }
    NEED(enter(child, zone, &ticket) == ADM_ADMITTED);
    leave_after_program();
    return 0;
}

/* The agent, with a permit that it never has: it has to be taken back. */
static int beat_and_buffer(void *unused)
{
    NEED(gets_permit());
    arm();
    adm_agent_beat(segment, adm_now());
    NEED(spool_reserve(child, 1000, 1000));
    return 0;
}

/* What the parent does at a load: the zone uses flows, or does no longer. */
static void change_setup(void)
{
    adm_zone_rec_t *rec = rec_of_zone(zone);

    if (has_keys) {
        atomic_store(&rec->table_idx, atomic_load(&rec->table_idx) ? 0 : 1);
        atomic_fetch_add(&rec->setup, 1);
    }
}

static int enter_another_setup(void *unused)
{
    child = join();
    enter(child, zone, &ticket);
    leave(&ticket);
    change_setup();
    arm();
    enter(child, zone, &ticket);
    return 0;
}

/* ---- somebody sets a limit: an administrator, the agent ---------------------- */

static bool order(adm_child_t *child, adm_override_t wanted)
{
    adm_override_t before, after;

    return adm_override_set(child, zone, &wanted, adm_now(), &before, &after) == APR_SUCCESS;
}

/* An administrator has it at 1, and opens the zone and its queue. */
static bool order_one(adm_child_t *child)
{
    return order(child, (adm_override_t){ 1, 10, ADM_MODE_OPEN });
}

/* The first order closes the queue, and fills ten minutes of a history, store by store. */
static int be_rejected_and_order(void *unused)
{
    child = join();
    NEED(order(child, (adm_override_t){ ADM_OVERRIDE_KEEP, 0, ADM_OVERRIDE_KEEP }));
    arm();
    NEED(enter(child, zone, &ticket) == ADM_FULL);
    NEED(order_one(child));
    return 0;
}

/* What the agent does with a limit that finds itself. */
static void tune(adm_child_t *child)
{
    const law_tune_t state = { .version = LAW_TUNE_VERSION };

    atomic_store(&rec_of_zone(zone)->measured_began, 1);
    auto_write(segment, zone, &state, 1, adm_now());
    auto_set(child, zone, 1, adm_now());
}

static int tune_only(void *unused)
{
    child = join();
    adm_limit_set(rec_of_zone(zone), ADM_LIMIT_CONFIGURED, 1);
    arm();
    tune(child);
    return 0;
}

static bool apply_one(adm_child_t *child)
{
    const law_fleet_share_t one = { .share = 1,
                                    .until_usec = adm_clock_since_boot() + 10 * ADM_USEC_PER_SEC };

    return fleet_apply(child, zone, &one, adm_now()) == APR_SUCCESS;
}

/* The zone is shared for a while: nothing, then one. */
static bool share(adm_child_t *child)
{
    const law_fleet_who_t who = { .count = 1 };
    adm_ticket_t ticket;
    law_fleet_work_t work;

    adm_segment_share(segment, zone, ADM_FALLBACK_KEEP);
    adm_limit_set(rec_of_zone(zone), ADM_LIMIT_SHARE, 20);
    if (fleet_promise(child, zone, 0, false, adm_now(), &work) != APR_SUCCESS) {
        return false;
    }
    enter(child, zone, &ticket);
    leave(&ticket);
    if (!apply_one(child)) {
        return false;
    }
    adm_segment_share(segment, zone, ADM_FALLBACK_NONE);
    fleet_engine_note_servers(child, zone, &who);
    return true;
}

void share_again(adm_child_t *child)
{
    if (adm_limit_of_source(rec_of_zone(zone), ADM_LIMIT_SHARE) != ADM_LIMIT_NONE) {
        apply_one(child);
    }
}

static int share_only(void *unused)
{
    child = join();
    adm_limit_set(rec_of_zone(zone), ADM_LIMIT_CONFIGURED, 1);
    arm();
    NEED(share(child));
    return 0;
}

/* ---- and all of it ------------------------------------------------------- */

int do_everything(void *unused)
{
    adm_ticket_t first;
    adm_outcome_t outcome;

    arm();
    adm_agent_beat(segment, adm_now());
    adm_agent_gone(segment);
    child = join();
    NEED(spool_reserve(child, 1, 1));
    audit_for_seconds();
    NEED(order_one(child));
    NEED(share(child));
    tune(child);
    outcome = enter(child, zone, &ticket);
    NEED(outcome == ADM_ADMITTED || outcome == ADM_WAITING);
    if (outcome == ADM_WAITING) {
        adm_lease_check(child, zone, adm_now() + 10 * ADM_USEC_PER_SEC);
        wait_until(&ticket, adm_now() + 1);
        adm_ticket_cancel(&ticket, ADM_GONE, adm_now());
    }
    adm_who_note_sent(&ticket, 1);
    leave_after_program();
    outcome = enter(child, zone, &ticket);
    NEED(outcome == ADM_ADMITTED || outcome == ADM_WAITING);
    leave_without_lock();
    enter(child, zone, &first);
    enter(child, zone, &ticket);
    leave(&first);
    leave(&ticket);
    change_setup();
    enter(child, zone, &ticket);
    leave(&ticket);
    return 0;
}

static int die_with_ticket(void *unused)
{
    child = join();
    enter(child, zone, &ticket);
    kill(getpid(), SIGKILL);
    return 0;
}

static int die_with_program(void *unused)
{
    NEED(gets_permit());
    adm_program_announce(&ticket, ADM_START_HERE);
    kill(getpid(), SIGKILL);
    return 0;
}

static int die_inside_the_lock(void *unused)
{
    child = join();
    adm_fault_arm(ADM_FAULT_enter_stored, 1);
    enter(child, zone, &ticket);
    return 0;
}

static int audit_and_audit(void *unused)
{
    arm();
    child = join();
    audit_for_seconds();
    return 0;
}

/* ---- the matrix ---------------------------------------------------------- */

const scene_t scenes[] = {
    { "enters and leaves", NULL, enter_and_leave, FREE, STORES },
    { "parks and cancels", NULL, enter_and_cancel, HELD, STORES },
    { "is second and cancels", NULL, enter_and_cancel, HELD_AND_AWAITED, STORES_TO_FLOWS },
    { "cancels before another", NULL, cancel_before_another, HELD, STORES, .is_parallel = true },
    { "waits with a worker", NULL, enter_and_leave, HELD, STORES },
    { "leaves before a line", NULL, hand_over, PARALLEL, STORES_TO_FLOWS },
    { "leaves without the lock", NULL, enter_and_leave_to_others, FREE, STORES_TO_FLOWS },
    { "moves on", NULL, move_on, PARALLEL, STORES },
    { "begins and leaves", NULL, begin_and_leave, FREE, STORES },
    { "passes on", NULL, pass_on, AWAITED, STORES },
    { "enters after a load", NULL, enter_another_setup, FREE },
    { "is second after a load", NULL, enter_another_setup, HELD_AND_AWAITED },
    { "is the agent, and buffers a response", NULL, beat_and_buffer, FREE },
    /* Programs. */
    { "leaves after its program", NULL, enter_with_program, FREE, STORES },
    { "orphans, and gives up an orphan", die_with_program, audit_and_audit, FREE, STORES },
    /* Limits. */
    { "is rejected, and orders", NULL, be_rejected_and_order, HELD, STORES },
    { "tunes", NULL, tune_only, HELD },
    { "tunes, and grants", NULL, tune_only, AWAITED },
    { "shares", NULL, share_only, HELD },
    { "shares, and grants", NULL, share_only, AWAITED },
    /* Children. */
    { "registers", NULL, register_only, FREE },
    { "registers while another waits", NULL, register_only, HELD_AND_AWAITED, STORES },
    { "registers and reaps a runner", die_with_ticket, register_only, FREE, STORES },
    { "registers and reaps a waiter", die_with_ticket, register_only, HELD_AND_AWAITED, STORES },
    { "registers and rebuilds", die_inside_the_lock, register_only, FREE },
    { "registers and rebuilds a queue of one", die_inside_the_lock, register_only, HELD },
    { "registers and rebuilds a queue", die_inside_the_lock, register_only, HELD_AND_AWAITED,
      STORES },
    { "enters and rebuilds", die_inside_the_lock, enter_and_leave, FREE, STORES },
};

const int scene_count = (int)(sizeof(scenes) / sizeof(scenes[0]));
