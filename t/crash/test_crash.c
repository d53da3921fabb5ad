/* test_crash.c - a process is killed at each fault point that it reaches, another one repairs;
 * and the stories of test_step.c.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "auto/auto_shm.h"
#include "core/adm_agent.h"
#include "core/adm_limit.h"
#include "core/adm_zone.h"
#include "fleet/fleet_shm.h"
#include "spool/spool_shm.h"
#include "test_scenes.h"

WITH_FLOWS_TOO;

#define ANY_POINT ADM_FAULT_end

/* The next victim dies when it reaches this point for the nth time. */
static adm_fault_t point;
static unsigned nth;

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

static void share_again(adm_child_t *child)
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

/* For a second death: whatever a child or the agent does, from its first moment. */
static int do_everything(void *unused)
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

/* ---- deaths --------------------------------------------------------------- */

static bool was_killed(int end)
{
    ck_assert_msg(end == 0 || end == -SIGKILL, "a story went wrong: %d", end);
    return end == -SIGKILL;
}

/* Play the scene until its victim dies at the nth point that it reaches, or has ended.
 * @return whether it died. */
static bool play_scene(const scene_t *scene, unsigned at)
{
    pid_t victim;

    make_segment(2, 4, 128);
    set_stage(scene);
    point = ANY_POINT;
    nth = at;
    victim = start(scene->victim, NULL);
    follow(scene);
    return was_killed(end_of(victim));
}

/* Nor is a worker left: none was taken. */
static void survive_all(const scene_t *scene, unsigned at)
{
    survive(scene, at);
    ck_assert_uint_eq(atomic_load(&segment->header->workers_held), 0);
}

/* Another one dies at this point, if it gets there. */
static bool die_again(adm_fault_t at)
{
    point = at;
    nth = 1;
    return was_killed(play(do_everything, NULL));
}

/* At each point that the victim reaches. */
TESTS(a_death_is_mended, 0, scene_count)
{
    const scene_t *scene = &scenes[_i];
    unsigned at = 0;
    bool is_dead;

    do {
        is_dead = play_scene(scene, ++at);
        survive_all(scene, at);
    } while (is_dead);
    ck_assert_uint_gt(at, 1);
}

/* All pairs of points would take minutes: each third one, or all if few are reached so. */
enum { STRIDE = 3, FEW = 10 };

/* Another one dies while it mends the first death: at each point that it gets to. Loop test
 * over the points; each has to be reached in some scene. */
TESTS(a_second_death_during_the_repair_is_mended, 1, ADM_FAULT_end)
{
    adm_fault_t second = (adm_fault_t)_i;
    int n, stride, deaths = 0, reached = 0;
    unsigned at;

    if (second >= ADM_FAULT_ask_filled && !uses_flows) {
        return; /* only zones with flows have it */
    }
    for (stride = STRIDE; stride > 0 && reached < FEW; stride -= STRIDE - 1) {
        for (n = 0; n < scene_count; n++) {
            for (at = 1 + (unsigned)((n + _i) % stride); play_scene(&scenes[n], at); at += stride) {
                deaths++;
                reached += die_again(second);
                survive_all(&scenes[n], at);
            }
            survive_all(&scenes[n], at);
        }
    }
    printf("# a second death at %s: reached after %d of %d deaths\n", adm_fault_name(second),
           reached, deaths);
    ck_assert_int_gt(reached, 0);
}

/* A whole row of children dies one after the other, each at a point of the
 * repair that the ones before left to it. */
TEST(any_number_of_deaths_is_mended)
{
    const char *given = getenv("SEED");
    unsigned seed = given ? (unsigned)strtoul(given, NULL, 0) : (unsigned)adm_now();
    unsigned row, n, killed = 0;

    printf("# SEED=%u\n", seed);
    for (row = 0; row < 40; row++) {
        const scene_t *scene = &scenes[(unsigned)rand_r(&seed) % scene_count];

        uses_flows = rand_r(&seed) % 2;
        play_scene(scene, 1 + (unsigned)rand_r(&seed) % 8);
        for (n = 0; n < 8; n++) {
            killed += die_again(1 + (unsigned)rand_r(&seed) % (ADM_FAULT_end - 1));
        }
        survive_all(scene, 0);
    }
    printf("# %u more deaths\n", killed);
}
