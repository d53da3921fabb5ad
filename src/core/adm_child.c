/* adm_child.c - the table of children: register them, detect their death.
 * Called by adm_round and adm_program.
 */
#include <string.h>

#include "adm_agent.h"
#include "adm_child.h"
#include "adm_fault.h"
#include "adm_layout.h"
#include "adm_proc.h"

/* PID of the registered process, because getpid() is a system call. Cleared by
 * a fork (adm_program.c). */
static pid_t self;

/* ---- claim ---------------------------------------------------------------- */

/* Clear everything behind `cleared_as`. Other processes use the rest of a record
 * only while it is LIVE. The sequence number is stored after the counts are
 * cleared: a child that is killed before has no workers, whatever the record
 * still has of an earlier child. */
static void clear_record(adm_child_rec_t *rec, adm_doorbell_rec_t *doorbell,
                         uint32_t generation, uint32_t sequence)
{
    size_t kept = offsetof(adm_child_rec_t, generation);

    memset((char *)rec + kept, 0, sizeof(*rec) - kept);
    atomic_store(&rec->cleared_as, sequence);
    atomic_store(&rec->generation, generation);
    memset(doorbell->summary, 0, sizeof(doorbell->summary));
}

/* Clear the records that the capabilities (parts.h) have for this child. */
static void clear_parts(adm_segment_t *segment, uint32_t idx)
{
#define CLEAR(name, NAME)                                    \
    memset(adm_part_child_at(segment, ADM_PART_##NAME,       \
                             adm_part_##name.of_child, idx), \
           0, adm_part_##name.of_child);
    ADM_PARTS_WITH_RECORDS(CLEAR)
#undef CLEAR
}

/* Claim a record. @return false if it is not free, or just being checked. */
static bool claim(adm_segment_t *segment, uint32_t idx, pid_t pid,
                  uint32_t generation)
{
    adm_child_rec_t *rec = adm_child_at(segment, idx);
    adm_doorbell_rec_t *doorbell = adm_doorbell_at(segment, idx);
    uint64_t life = atomic_load(&rec->life);
    uint32_t sequence = adm_life_sequence(life);

    if (!doorbell || adm_life_state(life) != ADM_LIFE_FREE) {
        return false;
    }
    /* First, so that no loop misses the claim. */
    adm_raise(&segment->header->children_used, idx);
    if (!atomic_compare_exchange_strong(&rec->life, &life,
                                        adm_life(pid, sequence,
                                                 ADM_LIFE_CLAIMED))) {
        return false;
    }
    ADM_FAULT(child_claimed); /* C1_claim */
    clear_record(rec, doorbell, generation, sequence);
    clear_parts(segment, idx);
    if (adm_lock_hold_for_life(&rec->alive) != ADM_LOCKED) {
        /* C3_claim_undone: a slow reaper holds the lock for a moment. Take
         * another record. */
        atomic_store(&rec->life, adm_life(0, sequence, ADM_LIFE_FREE));
        return false;
    }
    /* C2_hold_for_life came first: C4_live */
    atomic_store(&rec->life, adm_life(pid, sequence, ADM_LIFE_LIVE));
    return true;
}

/* Repeated because a reaper might have locked the only free record for a
 * moment. */
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

adm_child_t *adm_child_claim(adm_segment_t *segment, pid_t pid,
                             uint32_t generation, apr_pool_t *pool)
{
    adm_child_t *child;
    uint32_t idx = claim_any(segment, pid, generation);

    if (idx == 0) {
        return NULL;
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
    return child;
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

void adm_child_stop(adm_child_t *child)
{
    atomic_store(&child->is_stopping, true);
}

bool adm_child_is_stopping(const adm_child_t *child)
{
    return atomic_load(&child->is_stopping);
}

/* ---- whether grants can run ---------------------------------------------- */

void adm_child_note_room(adm_child_t *child, bool has_idle_worker)
{
    unsigned room = has_idle_worker ? ADM_ROOM_IDLE : ADM_ROOM_FULL;

    if (atomic_load_explicit(&child->rec->room, memory_order_relaxed) != room) {
        atomic_store(&child->rec->room, room);
    }
}

void adm_child_note_alive(adm_child_t *child)
{
    unsigned silent = ADM_ROOM_SILENT;

    if (atomic_load_explicit(&child->rec->room, memory_order_relaxed)
        == silent) {
        atomic_compare_exchange_strong(&child->rec->room, &silent,
                                       ADM_ROOM_IDLE);
    }
}

/* ---- death ---------------------------------------------------------------- */

/* Mark a child dead, unless another process has done so. */
static bool mark_dead(adm_segment_t *segment, adm_child_rec_t *rec,
                      uint64_t life)
{
    uint64_t dead = adm_life(adm_life_pid(life), adm_life_sequence(life),
                             ADM_LIFE_DEAD);

    if (!atomic_compare_exchange_strong(&rec->life, &life, dead)) {
        return false;
    }
    atomic_fetch_add(&segment->header->news, 1);
    return true;
}

static bool is_in_use(uint64_t life)
{
    return adm_life_state(life) == ADM_LIFE_LIVE
           || adm_life_state(life) == ADM_LIFE_CLAIMED;
}

void adm_child_ended(adm_segment_t *segment, pid_t pid)
{
    bool is_news = false;
    uint32_t idx;

    for (idx = 1; idx <= segment->sizes.children; idx++) {
        adm_child_rec_t *rec = adm_child_at(segment, idx);
        uint64_t life = atomic_load(&rec->life);

        if (is_in_use(life) && adm_life_pid(life) == pid) {
            is_news |= mark_dead(segment, rec, life); /* C5_dead_by_parent */
        }
    }
    if (is_news) {
        adm_agent_wake(segment);
    }
}

/* Whether the process of a CLAIMED or LIVE record has exited. A CLAIMED record
 * is checked by its PID: its process might not have locked `alive` yet. */
static bool has_died(adm_child_rec_t *rec, uint64_t life)
{
    if (adm_life_state(life) == ADM_LIFE_LIVE) {
        return adm_lock_owner_is_dead(&rec->alive);
    }
    return adm_proc_is_gone(adm_life_pid(life));
}

uint64_t adm_child_check(adm_segment_t *segment, uint32_t idx)
{
    adm_child_rec_t *rec = adm_child_at(segment, idx);
    uint64_t life = atomic_load(&rec->life);

    if (is_in_use(life) && has_died(rec, life)) {
        mark_dead(segment, rec, life); /* C6_dead_by_child */
    }
    return atomic_load(&rec->life);
}
