/* test_child.c - the table of children. */
#include <unistd.h>

#include "core/adm_child.h"
#include "core/adm_doorbell.h"
#include "test_support.h"

static uint64_t life_of(uint32_t idx)
{
    return atomic_load(&adm_child_at(segment, idx)->life);
}

TEST(a_full_table_of_children_is_reported)
{
    pid_t pid;
    adm_child_t *child = NULL;

    make_segment(1, 1, 64);
    pid = start_holder(0);
    ck_assert_int_eq(adm_child_register(&child, segment, 1, pool), ADM_NO_CHILD);
    ck_assert_ptr_null(child);
    ck_assert(!adm_child_is_registered_here());
    kill_unnoticed(pid);
}

/* Loop test: the parent noticed the death, or did not. */
TESTS(the_record_of_a_dead_child_is_used_again, 0, 2)
{
    pid_t first;

    make_segment(1, 2, 64);
    first = start_holder(0);
    (_i ? kill_noticed : kill_unnoticed)(start_holder(0));
    ck_assert_uint_eq(join()->idx, 2);
    ck_assert_uint_eq(adm_life_sequence(life_of(2)), 1);
    kill_unnoticed(first);
}

TEST(the_parents_note_makes_a_child_dead)
{
    unsigned news = atomic_load(&segment->header->news);
    pid_t pid = start_holder(0);

    adm_child_ended(segment, pid + 1); /* an unknown process */
    adm_child_ended(segment, 0);
    ck_assert_uint_eq(life_of(1), adm_life(pid, 0, ADM_LIFE_LIVE));
    ck_assert_uint_eq(atomic_load(&segment->header->news), news);
    kill_noticed(pid);
    ck_assert_int_eq(adm_life_state(life_of(1)), ADM_LIFE_DEAD);
    ck_assert_uint_eq(atomic_load(&segment->header->news), news + 1);
    adm_child_ended(segment, pid);
    ck_assert_uint_eq(atomic_load(&segment->header->news), news + 1);
}

TEST(a_record_with_the_own_pid_was_left_by_a_dead_namesake)
{
    adm_child_rec_t *left = adm_child_at(segment, 5);

    atomic_store(&left->life, adm_life(getpid(), 3, ADM_LIFE_LIVE));
    atomic_store(&segment->header->children_used, 5);
    ck_assert_uint_eq(join()->idx, 1);
    ck_assert_int_eq(adm_life_state(life_of(5)), ADM_LIFE_FREE);
}

TEST(a_claim_is_valid_while_its_process_lives)
{
    pid_t pid = start_holder(0);

    make_segment(1, 1, 64);
    atomic_store(&adm_child_at(segment, 1)->life, adm_life(pid, 0, ADM_LIFE_CLAIMED));
    atomic_store(&segment->header->children_used, 1);
    ck_assert_ptr_null(try_to_join());
    kill_unnoticed(pid);
    ck_assert_ptr_nonnull(try_to_join());
}

TEST(a_record_locked_by_a_slow_reaper_is_passed_over)
{
    ck_assert_int_eq(adm_lock_hold_for_life(&adm_child_at(segment, 1)->alive), ADM_LOCKED);
    ck_assert_uint_eq(join()->idx, 2);
    ck_assert_int_eq(adm_life_state(life_of(1)), ADM_LIFE_FREE);
}

TEST(the_bell_of_a_new_child_does_not_ring_for_the_last_one)
{
    uint32_t slots[4];

    make_segment(1, 1, 64);
    kill_unnoticed(start_holder(0));
    adm_doorbell_ring_slot(segment, 1, 77);
    ck_assert_uint_eq(adm_doorbell_wait(join(), at_once, slots, 4), 0);
}
