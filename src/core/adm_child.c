/* adm_child.c - the table of children: who is alive, what each one holds. */
#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include "adm_fault.h"
#include "adm_layout.h"

/* The registered process. Remembered because getpid() is a system call; a
 * fork gives it up (adm_program.c). */
static pid_t self;

/* ---- register ------------------------------------------------------------------ */

/* Places are claimed roughly in order; nobody looks beyond children_used. */
static void note_child_used(adm_segment_t *segment, uint32_t idx)
{
    atomic_uint *used = &segment->header->children_used;
    uint32_t seen = atomic_load(used);

    while (seen < idx && !atomic_compare_exchange_weak(used, &seen, idx)) {
    }
}

static void clear_record(adm_child_rec_t *rec, adm_doorbell_rec_t *doorbell,
                         uint32_t generation)
{
    unsigned n;

    atomic_store(&rec->generation, generation);
    atomic_store(&rec->workers_asked, 0);
    atomic_store(&rec->workers_held, 0);
    atomic_store(&rec->blocked, 0);
    atomic_store(&rec->workers_blocked, 0);
    atomic_store(&rec->workers_settled, 0);
    atomic_store(&rec->parked, 0);
    for (n = 0; n < ADM_BELL_SUMMARIES; n++) {
        atomic_store(&doorbell->summary[n], 0);
    }
}

static bool claim(adm_segment_t *segment, uint32_t idx, pid_t pid,
                  uint32_t generation)
{
    adm_child_rec_t *rec = adm_child_at(segment, idx);
    uint64_t life = atomic_load(&rec->life);
    uint32_t sequence = adm_life_sequence(life);

    if (adm_life_state(life) != ADM_LIFE_FREE) {
        return false;
    }
    note_child_used(segment, idx); /* first, so that no claim is overlooked */
    if (!atomic_compare_exchange_strong(&rec->life, &life,
                                        adm_life(pid, sequence,
                                                 ADM_LIFE_CLAIMED))) {
        return false;
    }
    ADM_FAULT(child_claimed); /* C1_claim */
    clear_record(rec, adm_doorbell_at(segment, idx), generation);
    if (adm_lock_hold_for_life(&rec->alive) != ADM_LOCKED) {
        /* C3_claim_undone: a slow reaper has it for a moment. Take another
         * place. */
        atomic_store(&rec->life, adm_life(0, sequence, ADM_LIFE_FREE));
        return false;
    }
    /* C2_hold_for_life came first: C4_live */
    atomic_store(&rec->life, adm_life(pid, sequence, ADM_LIFE_LIVE));
    return true;
}

/* A reaper may have had the only free record for a moment: try again. */
#define CLAIM_PASSES 3

static uint32_t claim_any(adm_segment_t *segment, pid_t pid,
                          uint32_t generation)
{
    uint32_t pass, idx;

    for (pass = 0; pass < CLAIM_PASSES; pass++) {
        for (idx = 1; idx <= segment->sizes.children; idx++) {
            if (claim(segment, idx, pid, generation)) {
                return idx;
            }
        }
    }
    return 0;
}

/* A record with this very pid was left by a process that is gone: this one
 * has no record yet. */
static void mark_namesakes_dead(adm_segment_t *segment, pid_t pid)
{
    if (pid != self) {
        adm_segment_child_ended(segment, pid);
    }
}

apr_status_t adm_child_register(adm_child_t **registered,
                                adm_segment_t *segment, uint32_t generation,
                                apr_pool_t *pool)
{
    adm_child_t *child;
    pid_t pid = getpid();
    uint32_t idx;

    if (!adm_segment_is_ours(segment)) {
        return ADM_BAD_SEGMENT;
    }
    mark_namesakes_dead(segment, pid);
    adm_reap(segment, NULL, adm_now());
    idx = claim_any(segment, pid, generation);
    if (idx == 0) {
        return ADM_NO_CHILD;
    }
    child = apr_pcalloc(pool, sizeof(*child));
    child->segment = segment;
    child->idx = idx;
    child->rec = adm_child_at(segment, idx);
    child->doorbell = adm_doorbell_at(segment, idx);
    child->pid = pid;
    child->blocked_max = UINT32_MAX;
    child->connection_budget = UINT32_MAX;
    child->server_budget = UINT32_MAX;
    self = pid;
    *registered = child;
    adm_audit(child, adm_now(), true);
    return APR_SUCCESS;
}

void adm_child_forget_self(void)
{
    self = 0;
}

bool adm_child_is_registered_here(void)
{
    return self != 0;
}

bool adm_child_is_self(const adm_child_t *child)
{
    return child->pid == self;
}

void adm_child_limit_blocked(adm_child_t *child, uint32_t max)
{
    child->blocked_max = max;
}

void adm_child_limit_connections(adm_child_t *child, uint32_t budget,
                                 uint32_t server_budget, uint32_t per_worker)
{
    child->connection_budget = budget;
    child->server_budget = server_budget;
    child->connections_per_worker = per_worker;
}

void adm_child_stop(adm_child_t *child)
{
    atomic_store(&child->is_stopping, true);
}

bool adm_child_is_stopping(const adm_child_t *child)
{
    return atomic_load(&child->is_stopping);
}

/* ---- death ---------------------------------------------------------------------- */

static bool mark_dead(adm_segment_t *segment, adm_child_rec_t *rec,
                      uint64_t life)
{
    uint64_t dead = adm_life(adm_life_pid(life), adm_life_sequence(life),
                             ADM_LIFE_DEAD);

    if (!atomic_compare_exchange_strong(&rec->life, &life, dead)) {
        return false;
    }
    atomic_fetch_add(&segment->header->deaths, 1);
    return true;
}

static bool is_in_use(uint64_t life)
{
    return adm_life_state(life) == ADM_LIFE_LIVE
           || adm_life_state(life) == ADM_LIFE_CLAIMED;
}

void adm_segment_child_ended(adm_segment_t *segment, pid_t pid)
{
    uint32_t idx;

    for (idx = 1; idx <= segment->sizes.children; idx++) {
        adm_child_rec_t *rec = adm_child_at(segment, idx);
        uint64_t life = atomic_load(&rec->life);

        if (is_in_use(life) && adm_life_pid(life) == pid) {
            mark_dead(segment, rec, life); /* C5_dead_by_parent */
        }
    }
}

/* Whether a claimed or live record's process has ended. */
static bool has_died(adm_child_rec_t *rec, uint64_t life)
{
    if (adm_life_state(life) == ADM_LIFE_LIVE) {
        return adm_lock_owner_is_dead(&rec->alive);
    }
    return kill(adm_life_pid(life), 0) != 0 && errno == ESRCH;
}

void adm_child_mark_the_dead(adm_segment_t *segment, uint32_t own_idx)
{
    uint32_t used = atomic_load(&segment->header->children_used);
    uint32_t idx;

    for (idx = 1; idx <= used && idx <= segment->sizes.children; idx++) {
        adm_child_rec_t *rec = adm_child_at(segment, idx);
        uint64_t life = atomic_load(&rec->life);

        if (idx != own_idx && is_in_use(life) && has_died(rec, life)) {
            mark_dead(segment, rec, life); /* C6_dead_by_child */
        }
    }
}

/* ---- workers ---------------------------------------------------------------------- */

/* No less than what is held, and no more than that and what others are just
 * asking for. */
static uint32_t workers_asked(const adm_segment_t *segment)
{
    uint32_t used = atomic_load(&segment->header->children_used);
    uint32_t idx, asked = 0;

    for (idx = 1; idx <= used && idx <= segment->sizes.children; idx++) {
        adm_child_rec_t *rec = adm_child_at(segment, idx);

        if (adm_life_state(atomic_load(&rec->life)) == ADM_LIFE_LIVE) {
            asked += atomic_load(&rec->workers_asked);
        }
    }
    return asked;
}

/* Who asks says so first, in its own record: of two that ask at once, the one
 * that comes second to the common count sees the first one there. And the
 * common count is raised before the own one and lowered after it, so that a
 * kill in between leaves it too high: that costs a look at the records, and
 * nothing else. */
bool adm_child_take_worker(adm_child_t *child, bool by_force)
{
    adm_header_rec_t *header = child->segment->header;
    uint32_t cap = atomic_load_explicit(&header->worker_cap,
                                        memory_order_relaxed);
    uint32_t held;

    atomic_fetch_add(&child->rec->workers_asked, 1);
    held = atomic_fetch_add(&header->workers_held, 1) + 1;
    atomic_fetch_add(&child->rec->workers_held, 1);
    if (held > cap && !by_force && workers_asked(child->segment) > cap) {
        adm_child_return_worker(child);
        return false;
    }
    return true;
}

void adm_child_return_worker(adm_child_t *child)
{
    atomic_fetch_sub(&child->rec->workers_held, 1);
    atomic_fetch_sub(&child->segment->header->workers_held, 1);
    atomic_fetch_sub(&child->rec->workers_asked, 1);
}

/* ---- connections ------------------------------------------------------------------- */

/* Not those of a burst that are about to be parked, or rejected. */
static uint64_t connections_of(const adm_child_t *child,
                               const adm_child_rec_t *rec)
{
    uint64_t workers = atomic_load(&rec->workers_settled);

    return workers * child->connections_per_worker + atomic_load(&rec->parked);
}

/* Children of an older generation accept no more connections. */
static uint64_t connections_of_generation(const adm_child_t *child)
{
    const adm_segment_t *segment = child->segment;
    uint32_t used = atomic_load(&segment->header->children_used);
    uint32_t generation = atomic_load(&child->rec->generation);
    uint64_t connections = 0;
    uint32_t idx;

    for (idx = 1; idx <= used && idx <= segment->sizes.children; idx++) {
        const adm_child_rec_t *rec = adm_child_at(segment, idx);

        if (adm_life_state(atomic_load(&rec->life)) == ADM_LIFE_LIVE
            && atomic_load(&rec->generation) == generation) {
            connections += connections_of(child, rec);
        }
    }
    return connections;
}

bool adm_child_has_connections(const adm_child_t *child, uint32_t more)
{
    return connections_of(child, child->rec) + more <= child->connection_budget
           || connections_of_generation(child) + more <= child->server_budget;
}

bool adm_child_has_room(const adm_child_t *child)
{
    return adm_child_has_connections(child, 1);
}
