/* test_law_tune_memory.c - what `MaxConcurrent auto` makes of the sizes of programs. */
#include <string.h>

#include "auto/law_tune_parts.h"
#include "test_support.h"

#define MB 1024u
#define BUDGET_KB (950.0 * MB)
#define MOST 200

static law_tune_memory_t memory;
static double now;

static void begin(void)
{
    memset(&memory, 0, sizeof(memory));
    memory.inflation = 1;
    now = 1000;
}

static void end_programs_of(uint32_t count, uint32_t mb)
{
    const uint32_t kb = mb * MB;
    const law_tune_sample_t sample = {
        .ended = 1, .peak_kb = kb, .peak_square_kb2 = (uint64_t)kb * kb, .peak_largest_kb = kb
    };

    while (count-- > 0) {
        now += 0.05;
        law_tune_memory_update(&memory, &sample, 0.05);
        ck_assert(law_tune_memory_is_sane(&memory, now));
    }
}

static uint32_t room(void)
{
    const law_tune_sample_t nothing_runs = { 0 };

    return law_tune_memory_cap(&memory, &nothing_runs, BUDGET_KB, MOST);
}

static bool is_surprised_by(uint32_t mb)
{
    const uint32_t kb = mb * MB;
    const law_tune_sample_t runs = { .rss_kb = &kb, .programs = 1 };

    return law_tune_memory_update_surprise(&memory, &runs, now);
}

TEST(of_larger_programs_twenty_are_enough)
{
    begin();
    end_programs_of(103, 10);
    ck_assert_uint_eq(room(), 95);
    /* Seven of the tenth ten are large: it has the spread of both. */
    end_programs_of(7, 190);
    ck_assert_uint_le(room(), 4);
    end_programs_of(10, 190);
    ck_assert_uint_eq(room(), 5);
}

/* After a restart: other programs, or a file with false values. */
TEST(what_is_remembered_has_to_be_borne_out_by_one_of_ten)
{
    begin();
    law_tune_memory_remember(&memory, 900 * MB, 900 * MB);
    ck_assert_uint_eq(room(), 1);
    end_programs_of(9, 10);
    ck_assert_uint_le(room(), 1);
    end_programs_of(1, 10);
    ck_assert_uint_eq(room(), 95);
    begin();
    law_tune_memory_remember(&memory, 100 * MB, 200 * MB);
    end_programs_of(9, 10);
    end_programs_of(1, 60);
    end_programs_of(10, 10);
    ck_assert_uint_le(room(), 40);
    ck_assert_double_ge(memory.largest_kb, 190 * MB);
}

/* Of the first ten three are large: a spread with room for five, if it were all that
 * is known; but one was seen to have 200 MB. */
TEST(what_was_seen_to_be_needed_is_not_forgotten_for_a_mixed_ten)
{
    begin();
    end_programs_of(107, 10);
    ck_assert(is_surprised_by(200));
    now += 1;
    ck_assert(!is_surprised_by(200));
    end_programs_of(3, 200);
    ck_assert_uint_le(room(), 4);
    end_programs_of(10, 200);
    ck_assert_uint_eq(room(), 4);
}

TEST(smaller_programs_are_believed_when_three_tens_were_of_them)
{
    begin();
    end_programs_of(100, 190);
    end_programs_of(29, 20);
    ck_assert_uint_le(room(), 5);
    ck_assert(!is_surprised_by(190));
    end_programs_of(1, 20);
    ck_assert_uint_ge(room(), 27);
    end_programs_of(30, 20);
    ck_assert_uint_ge(room(), 45);
    /* One as large as those before is a new kind again. */
    ck_assert(is_surprised_by(190));
    memory.unlike_batches = 3; /* is 0 by now */
    ck_assert(!law_tune_memory_is_sane(&memory, now));
}

TEST(a_run_of_smaller_programs_is_not_believed)
{
    begin();
    end_programs_of(100, 190);
    end_programs_of(20, 20);
    end_programs_of(10, 190);
    end_programs_of(20, 20);
    ck_assert_uint_le(room(), 5);
}

/* The means go on as if nothing had been compared. */
TEST(a_lasting_mixture_is_never_taken_for_a_change)
{
    uint32_t i;

    begin();
    for (i = 0; i < 600; i++) {
        /* One in five is large, four in a row: some tens have four, others none. */
        end_programs_of(1, i % 20 < 4 ? 190 : 20);
        if (i >= 100) {
            ck_assert_double_gt(memory.ended, 100);
            ck_assert_uint_le(room(), 13);
        }
    }
}

TEST(a_size_is_known_when_it_has_been_the_same_for_a_second)
{
    const uint32_t kb = 100 * MB;
    const law_tune_sample_t runs = { .rss_kb = &kb, .programs = 1 };

    begin();
    ck_assert(!law_tune_memory_update_known(&memory, &runs, now));
    ck_assert(!law_tune_memory_update_known(&memory, &runs, now + 0.9));
    ck_assert(law_tune_memory_update_known(&memory, &runs, now + 1));
}
