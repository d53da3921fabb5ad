/* test_scenes.c - where processes are killed, and in which story. */
#include "test_scenes.h"
#include "test_traced.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "auto/auto_shm.h"
#include "core/adm_agent.h"
#include "core/adm_limit.h"
#include "core/adm_zone.h"
#include "fleet/fleet_shm.h"
#include "spool/spool_shm.h"

adm_fault_t point;
bool is_traced;

adm_child_t *survivor;
adm_ticket_t held, awaited;

static adm_ticket_t ticket; /* of the victim, whose child is the global one */

/* ---- stories of victims -------------------------------------------------- */

void arm(void)
{
    if (is_traced) {
        raise(SIGSTOP);
    }
    else {
        adm_fault_arm(point, 1);
    }
}

static bool gets_permit(void)
{
    child = join();
    return enter(child, zone, &ticket) == ADM_ADMITTED;
}

void wait_for_another(void)
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

int enter_and_leave(void *unused)
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

int enter_and_cancel(void *unused)
{
    child = join();
    arm();
    NEED(enter(child, zone, &ticket) == ADM_WAITING);
    adm_ticket_cancel(&ticket, ADM_GONE, adm_now());
    return 0;
}

/* Holds the permit until somebody stands behind it. */
int hand_over(void *unused)
{
    NEED(gets_permit());
    wait_for_another();
    arm();
    leave(&ticket);
    return 0;
}

/* Its permit moves on while somebody waits. */
int move_on(void *unused)
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

int enter_and_leave_to_others(void *unused)
{
    child = join();
    NEED(enter(child, zone, &ticket) == APR_SUCCESS);
    arm();
    leave_without_lock();
    return 0;
}

/* Arms before it registers: the story is that, and what there is to mend. */
int register_only(void *unused)
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

/* ---- somebody sets a limit: an administrator, the agent ---------------------- */

/* An administrator has it at 1, and opens the zone. */
static bool order_one(adm_child_t *child)
{
    adm_override_t before, after,
        wanted = { .limit = 1, .queue_length = ADM_OVERRIDE_KEEP, .mode = ADM_MODE_OPEN };

    return adm_override_set(child, zone, &wanted, adm_now(), &before, &after) == APR_SUCCESS;
}

static int override_limit(void *unused)
{
    child = join();
    arm();
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

/* The zone has a share, kept whatever happens. */
static void join_with_share(uint32_t share)
{
    child = join();
    adm_segment_share(segment, zone, ADM_FALLBACK_KEEP);
    adm_limit_set(rec_of_zone(zone), ADM_LIMIT_CONFIGURED, 1);
    adm_limit_set(rec_of_zone(zone), ADM_LIMIT_SHARE, share);
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

static void share_again(adm_child_t *child)
{

    if (adm_limit_of_source(rec_of_zone(zone), ADM_LIMIT_SHARE) != ADM_LIMIT_NONE) {
        apply_one(child);
    }
}

static int share_lowered(void *unused)
{
    law_fleet_work_t work;

    join_with_share(2);
    arm();
    NEED(fleet_promise(child, zone, 1, false, adm_now(), &work) == APR_SUCCESS);
    return 0;
}

static int share_granted(void *unused)
{
    join_with_share(0);
    arm();
    NEED(apply_one(child));
    return 0;
}

static int share_awaited(void *unused)
{
    law_fleet_work_t work;

    join_with_share(1);
    NEED(fleet_promise(child, zone, 1, false, adm_now(), &work) == APR_SUCCESS);
    arm();
    NEED(enter(child, zone, &ticket) == ADM_WAITING);
    return 0;
}

static int sharers_noted(void *unused)
{
    const law_fleet_who_t who = { .count = 1, .servers = { { .name = "one" } } };
    child = join();
    arm();
    fleet_engine_note_servers(child, zone, &who);
    return 0;
}

/* ---- and all of it ------------------------------------------------------- */

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

int die_with_ticket(void *unused)
{
    child = join();
    enter(child, zone, &ticket);
    kill(getpid(), SIGKILL);
    return 0;
}

int die_with_program(void *unused)
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

int die_inside_the_lock(void *unused)
{
    child = join();
    adm_fault_arm(ADM_FAULT_enter_stored, 1);
    enter(child, zone, &ticket);
    return 0;
}

int audit_and_audit(void *unused)
{
    arm();
    child = join();
    audit_for_seconds();
    return 0;
}

/* ---- the matrix ---------------------------------------------------------- */

#define KILL(name) #name, ADM_FAULT_##name
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
    { KILL(leave_stored), die_with_ticket, register_only, FREE },
    { KILL(reap_freed), die_with_ticket, register_only, FREE },
    { KILL(reap_done), die_with_ticket, register_only, FREE },
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

/* ---- before a death, and after it ---------------------------------------- */

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

/* What has just happened, for messages. */
static const char *played;
static unsigned last_change;

static void must(bool condition, const char *what)
{
    ck_assert_msg(condition, "%s, change %u: %s", played, last_change, what);
}

static void must_be_whole(void)
{
    const char *wrong = adm_check(segment);

    must(!wrong, wrong);
    assert_shown_is_possible(survivor, zone, played, last_change);
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
