/* spool_shm.c - bytes buffered for slow clients, in all children together.
 *
 * A child that reserves bytes sums up the counts of all living children, once
 * per piece of a file.
 */
#include "core/adm_child.h"
#include "core/adm_fault.h"
#include "core/adm_layout.h"
#include "spool_shm.h"

/* Per child: bytes reserved, including a reservation in progress. Written by
 * the child; atomic. */
typedef struct child_rec_t {
    _Atomic uint64_t bytes;
} child_rec_t;

/* Per server. Written by children; atomic. */
typedef struct server_rec_t {
    _Atomic adm_usec_t next_log;
} server_rec_t;

const adm_part_t adm_part_spool = { .of_server = sizeof(server_rec_t),
                                    .of_child = sizeof(child_rec_t) };

static _Atomic uint64_t *bytes_of(const adm_segment_t *segment,
                                  uint32_t child_idx)
{
    child_rec_t *rec = adm_part_child_at(segment, ADM_PART_SPOOL,
                                         sizeof(child_rec_t), child_idx);

    return &rec->bytes;
}

uint64_t spool_bytes_of(const adm_segment_t *segment, uint32_t child_idx)
{
    return atomic_load(bytes_of(segment, child_idx));
}

uint64_t spool_bytes(const adm_segment_t *segment)
{
    uint64_t bytes = 0;
    uint32_t idx = 0;

    while (adm_child_next(segment, &idx)) {
        bytes += spool_bytes_of(segment, idx);
    }
    return bytes;
}

/* Add first, then sum up: of two concurrent callers, the later one sees the
 * other's bytes. */
bool spool_reserve(adm_child_t *child, uint64_t bytes, uint64_t limit)
{
    /* K1_ask, K2_sum */
    atomic_fetch_add(bytes_of(child->segment, child->idx), bytes);
    ADM_FAULT(spool_taken);
    if (spool_bytes(child->segment) > limit) {
        atomic_fetch_sub(bytes_of(child->segment, child->idx),
                         bytes); /* K3_refused */
        return false;
    }
    return true; /* K4_keep */
}

void spool_release(adm_child_t *child, uint64_t bytes)
{
    if (adm_child_is_self(child)) {
        atomic_fetch_sub(bytes_of(child->segment, child->idx),
                         bytes); /* K5_give_back */
    }
}

bool spool_may_log(adm_segment_t *segment, adm_usec_t now, adm_usec_t interval)
{
    server_rec_t *rec = segment->parts[ADM_PART_SPOOL].of_server;

    return adm_due(&rec->next_log, now, interval);
}
