/* adm_doorbell.c - tell a child which of its parked tickets were granted.
 * Called by adm_zone and adm_ticket; waited for by the child's dispatcher.
 *
 * One bit per parked ticket, one summary bit per word of these, and one word to
 * sleep on. Other processes only set bits and the child clears them, so a kill
 * at any moment leaves at most a bit too many, which costs one check.
 */
#include "adm_doorbell.h"
#include "adm_layout.h"

void adm_doorbell_ring_slot(adm_segment_t *segment, uint32_t child_idx,
                            uint32_t slot)
{
    adm_doorbell_rec_t *doorbell = adm_doorbell_at(segment, child_idx);
    uint32_t word = slot / 64;

    if (!doorbell || slot >= ADM_PARK_SLOTS) {
        return;
    }
    /* Inner bit first: a reader that sees the summary bit finds the slot's
     * bit. */
    atomic_fetch_or(&doorbell->slots[word], UINT64_C(1) << slot % 64);
    atomic_fetch_or(&doorbell->summary[word / 64], UINT64_C(1) << word % 64);
    atomic_fetch_add(&doorbell->rings, 1);
    adm_wait_wake(&doorbell->rings);
}

void adm_doorbell_ring(adm_child_t *child)
{
    atomic_fetch_add(&child->doorbell->rings, 1);
    adm_wait_wake(&child->doorbell->rings);
}

/* Take the slots of one word; put back those beyond @a max. */
static uint32_t drain_word(adm_doorbell_rec_t *doorbell, uint32_t word,
                           uint32_t *slots, uint32_t max)
{
    uint64_t bits = atomic_exchange(&doorbell->slots[word], 0);
    uint32_t count = 0;

    for (; bits && count < max; bits &= bits - 1) {
        slots[count++] = word * 64 + (uint32_t)__builtin_ctzll(bits);
    }
    if (bits) {
        atomic_fetch_or(&doorbell->slots[word], bits);
        atomic_fetch_or(&doorbell->summary[word / 64], UINT64_C(1)
                                                           << word % 64);
    }
    return count;
}

/* Take at most @a max of the slots that rang. The others ring again. */
static uint32_t drain(adm_doorbell_rec_t *doorbell, uint32_t *slots,
                      uint32_t max)
{
    uint32_t count = 0, n;

    for (n = 0; n < ADM_BELL_SUMMARIES && count < max; n++) {
        uint64_t words = atomic_exchange(&doorbell->summary[n], 0);

        for (; words; words &= words - 1) {
            uint32_t word = n * 64 + (uint32_t)__builtin_ctzll(words);

            count += drain_word(doorbell, word, slots + count, max - count);
        }
    }
    return count;
}

uint32_t adm_doorbell_wait(adm_child_t *child, adm_until_t until,
                           uint32_t *slots, uint32_t max)
{
    adm_doorbell_rec_t *doorbell = child->doorbell;
    /* Read before anything that decides about the sleep. A ring after a later
     * change makes this value outdated, and the sleep returns immediately. */
    uint32_t rings = atomic_load(&doorbell->rings);
    uint32_t count = drain(doorbell, slots, max);

    if (count == 0) {
        adm_wait_sleep(&doorbell->rings, rings, until());
        count = drain(doorbell, slots, max);
    }
    return count;
}
