/* test_scenes.c - where processes are killed, and in which story. */
#include "test_scenes.h"

#include <signal.h>
#include <unistd.h>

#include "../unit/test_support.h"
#include "core/adm_agent.h"
#include "core/adm_limit.h"
#include "core/adm_zone.h"
#include "spool/spool_shm.h"

adm_fault_t point;

static adm_ticket_t ticket; /* of the victim, whose child is the global one */

/* ---- stories of victims -------------------------------------------------- */

void arm(void)
{
    adm_fault_arm(point, 1);
}

static bool gets_permit(void)
{
    child = join();
    return enter(child, zone, &ticket) == ADM_ADMITTED;
}

/* Until a program that is not there counts as gone. */
static void audit_for_seconds(void)
{
    adm_round(child, adm_now(), true);
    adm_round(child, adm_now() + ADM_USEC_PER_SEC, true);
    adm_round(child, adm_now() + 2 * ADM_USEC_PER_SEC, true);
}

static int enter_and_leave(void *unused)
{
    child = join();
    arm();
    NEED(enter(child, zone, &ticket) == ADM_ADMITTED);
    leave(&ticket);
    return 0;
}

static int enter_and_wait(void *unused)
{
    child = join();
    arm();
    NEED(enter(child, zone, &ticket) == ADM_WAITING);
    NEED(wait_until(&ticket, NEVER) == ADM_WAITED);
    return 0;
}

static int enter_and_cancel(void *unused)
{
    child = join();
    NEED(enter(child, zone, &ticket) == ADM_WAITING);
    arm();
    adm_ticket_cancel(&ticket, ADM_GONE, adm_now());
    return 0;
}

/* Holds the permit until somebody stands behind it. */
static int hand_over(void *unused)
{
    NEED(gets_permit());
    atomic_store(&shared[0], 1);
    NEED_SOON(queued_in(zone) > 0);
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
    atomic_store(&shared[0], 1);
    NEED_SOON(queued_in(zone) > 0);
    arm();
    adm_who_note_sent(&ticket, 1);
    NEED(adm_successor_take(child, zone, name, adm_now(), &heir) == ADM_SUCCESSOR_MOVED);
    return 0;
}

/* Wins, begins, and leaves. */
static int begin_and_leave(void *unused)
{
    adm_ticket_t before;

    child = join();
    enter(child, zone, &before);
    enter(child, zone, &ticket);
    leave(&before);
    arm();
    NEED(adm_ticket_begin(&ticket, adm_now()));
    leave(&ticket);
    return 0;
}

/* Gets what somebody before it won. */
static int pass_on(void *unused)
{
    child = join();
    enter(child, zone, &ticket);
    adm_limit_set(rec_of_zone(zone), ADM_LIMIT_CONFIGURED, 1);
    adm_round(child, adm_now(), true);
    arm();
    adm_lease_check(child, zone, adm_now() + ADM_LEASE_USEC);
    return 0;
}

static int raise_limit(void *unused)
{
    child = join();
    arm();
    adm_limit_set(rec_of_zone(zone), ADM_LIMIT_CONFIGURED, 1);
    adm_round(child, adm_now(), true);
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
    NEED(enter(child, zone, &ticket) == APR_SUCCESS);
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

/* A program that is killed on its way takes its child along, as a kill of their
 * process group does. */
static void start_its_program(void)
{
    pid_t program;

    adm_program_announce(&ticket, ADM_START_HERE);
    program = fork();
    if (program == 0) {
        _exit(0);
    }
    if (end_of(program) == -SIGKILL) {
        kill(getpid(), SIGKILL);
    }
}

static int enter_with_program(void *unused)
{
    child = join();
    arm();
    NEED(enter(child, zone, &ticket) == ADM_ADMITTED);
    start_its_program();
    leave(&ticket);
    return 0;
}

/* The agent, with a permit that it never has: it has to be taken back. */
static int beat_only(void *unused)
{
    NEED(gets_permit());
    arm();
    adm_agent_beat(segment, adm_now());
    return 0;
}

static int keep_some(void *unused)
{
    NEED(gets_permit());
    arm();
    NEED(spool_reserve(child, 1000, 1000));
    return 0;
}

/* What the parent does at a load. */
static void change_setup(void)
{
    adm_zone_rec_t *rec = rec_of_zone(zone);

    atomic_store(&rec->table_idx, atomic_load(&rec->table_idx) ? 0 : 1);
    atomic_fetch_add(&rec->setup, 1);
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

/* Has a permit and waits for another one. */
static int leave_before_it_waits(void *unused)
{
    adm_ticket_t before;

    child = join();
    NEED(enter(child, zone, &before) == ADM_ADMITTED);
    NEED(enter(child, zone, &ticket) == ADM_WAITING);
    arm();
    leave(&before);
    return 0;
}

bool is_of_flows(adm_fault_t at)
{
    return at >= ADM_FAULT_ask_filled;
}

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
    start_its_program();
    leave(&ticket);
    outcome = enter(child, zone, &ticket);
    NEED(outcome == ADM_ADMITTED || outcome == ADM_WAITING);
    leave_without_lock();
    enter(child, zone, &first);
    enter(child, zone, &ticket);
    leave(&first);
    leave(&ticket);
    if (has_keys) {
        change_setup();
        enter(child, zone, &ticket);
        leave(&ticket);
    }
    return 0;
}

static int die_with_permit(void *unused)
{
    NEED(gets_permit());
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

/* Its program is gone before it begins. */
static int enter_again_with_program(void *unused)
{
    adm_ticket_t waiting;

    NEED(gets_permit());
    adm_program_announce(&ticket, ADM_START_HERE);
    arm();
    NEED(enter(child, zone, &waiting) == ADM_WAITING);
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

#define KILL(name) #name, ADM_FAULT_##name
#define FREE .limit = 1
#define HELD .limit = 1, .is_held = true
#define HELD_AND_AWAITED .limit = 1, .is_held = true, .is_awaited = true
#define PARALLEL .limit = 1, .is_parallel = true
#define AWAITED .limit = 0, .is_awaited = true
#define FLOWS .needs_flows = true

const scene_t scenes[] = {
    /* A permit is free. */
    { KILL(enter_locked), NULL, enter_and_leave, FREE },
    { KILL(enter_filled), NULL, enter_and_leave, FREE },
    { KILL(enter_stored), NULL, enter_and_leave, FREE },
    { KILL(enter_unlocked), NULL, enter_and_leave, FREE },
    { KILL(chunk_claimed), NULL, enter_and_leave, FREE },
    { KILL(leave_stored), NULL, enter_and_leave, FREE },
    { KILL(leave_unlinked), NULL, enter_and_leave, FREE },
    /* The only permit is held. */
    { KILL(enter_locked), NULL, enter_and_wait, HELD },
    { KILL(enter_filled), NULL, enter_and_wait, HELD },
    { KILL(enter_stored), NULL, enter_and_wait, HELD },
    { KILL(enter_unlocked), NULL, enter_and_wait, HELD },
    { KILL(wait_sleeping), NULL, enter_and_wait, HELD },
    { KILL(cancel_stored), NULL, enter_and_cancel, HELD },
    /* Held, and somebody stands in line before the victim. */
    { KILL(enter_stored), NULL, enter_and_wait, HELD_AND_AWAITED },
    { KILL(cancel_stored), NULL, enter_and_cancel, HELD_AND_AWAITED },
    /* The victim has the permit that the survivor waits for. */
    { KILL(leave_stored), NULL, hand_over, PARALLEL },
    { KILL(leave_unlinked), NULL, hand_over, PARALLEL },
    { KILL(grant_stored), NULL, hand_over, PARALLEL },
    { KILL(guard_wanted), NULL, hand_over, PARALLEL },
    { KILL(grant_unlocked), NULL, hand_over, PARALLEL },
    { KILL(leave_stored), NULL, move_on, PARALLEL },
    { KILL(leave_unlinked), NULL, move_on, PARALLEL },
    { KILL(enter_filled), NULL, move_on, PARALLEL },
    { KILL(enter_stored), NULL, move_on, PARALLEL },
    { KILL(who_sent), NULL, move_on, PARALLEL },
    /* The victim wins. */
    { KILL(begin_stored), NULL, begin_and_leave, FREE },
    { KILL(grant_settled), NULL, begin_and_leave, FREE },
    { KILL(pass_marked), NULL, pass_on, AWAITED },
    { KILL(pass_stored), NULL, pass_on, AWAITED },
    /* A raised limit is handed out. */
    { KILL(grant_stored), NULL, raise_limit, AWAITED },
    { KILL(grant_unlocked), NULL, raise_limit, AWAITED },
    { KILL(spool_taken), NULL, keep_some, FREE },
    { KILL(override_limit), NULL, override_limit, AWAITED },
    { KILL(override_stored), NULL, override_limit, AWAITED },
    { KILL(grant_stored), NULL, override_limit, AWAITED },
    /* Somebody died before. */
    { KILL(rebuild_begun), die_inside_the_lock, register_only, FREE },
    { KILL(rebuild_counted), die_inside_the_lock, register_only, FREE },
    { KILL(rebuild_begun), die_inside_the_lock, register_only, HELD },
    { KILL(rebuild_counted), die_inside_the_lock, register_only, HELD_AND_AWAITED },
    { KILL(leave_stored), die_with_permit, register_only, FREE },
    { KILL(reap_freed), die_with_permit, register_only, FREE },
    { KILL(reap_done), die_with_permit, register_only, FREE },
    { KILL(reap_orphaned), die_with_program, audit_and_audit, FREE },
    { KILL(orphan_freed), die_with_program, audit_and_audit, FREE },
    { KILL(enter_locked), NULL, enter_again_with_program, FREE },
    { KILL(enter_unlocked), NULL, enter_again_with_program, FREE },
    { KILL(left_noted), NULL, enter_and_leave_to_others, FREE },
    { KILL(left_taken), NULL, enter_and_leave_to_others, FREE },
    { KILL(leave_stored), NULL, enter_and_leave_to_others, FREE },
    { KILL(program_forked), NULL, enter_with_program, FREE },
    { KILL(program_noted), NULL, enter_with_program, FREE },
    { KILL(agent_beat), NULL, beat_only, FREE },
    { KILL(auto_begun), NULL, tune_only, HELD },
    { KILL(auto_written), NULL, tune_only, FREE },
    { KILL(auto_set), NULL, tune_only, HELD },
    { KILL(auto_set), NULL, tune_only, AWAITED },
    { KILL(fleet_lowered), NULL, share_lowered, HELD },
    { KILL(fleet_promised), NULL, share_lowered, HELD },
    { KILL(fleet_set), NULL, share_granted, AWAITED },
    { KILL(fleet_leased), NULL, share_granted, AWAITED },
    { KILL(watch_set), NULL, share_lowered, HELD },
    { KILL(watch_taken), NULL, share_awaited, HELD },
    { KILL(engine_who), NULL, sharers_noted, FREE },
    { KILL(child_claimed), NULL, register_only, FREE },
    { KILL(child_claimed), NULL, register_only, HELD_AND_AWAITED },
    /* Requests are told apart. */
    { KILL(ask_filled), NULL, enter_and_leave, FREE, FLOWS },
    { KILL(ask_filled), NULL, enter_and_wait, HELD_AND_AWAITED, FLOWS },
    { KILL(flow_linked), NULL, enter_and_wait, HELD, FLOWS },
    { KILL(flow_linked), NULL, enter_and_wait, HELD_AND_AWAITED, FLOWS },
    { KILL(flow_unlinked), NULL, leave_before_it_waits, FREE, FLOWS },
    { KILL(flows_forgotten), die_inside_the_lock, register_only, HELD_AND_AWAITED, FLOWS },
    { KILL(setup_applied), NULL, enter_another_setup, FREE, FLOWS },
    { KILL(setup_applied), NULL, enter_another_setup, HELD_AND_AWAITED, FLOWS },
};

const int scene_count = (int)(sizeof(scenes) / sizeof(scenes[0]));
