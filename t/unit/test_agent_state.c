/* test_agent_state.c - what is kept of zones in a file; t/fuzz/state.c reads files that
 * contain anything. */
#include <string.h>
#include <unistd.h>

#include <apr_strings.h>

#include "auto/auto_file.h"
#include "test_support.h"

static const auto_saved_t some = { .limit = 4,
                                   .need_kb = 206044,
                                   .largest_kb = 210000,
                                   .at = 1763769600,
                                   .memory_kb = 1048576,
                                   .cores = 2 };

static char text[AUTO_FILE_ROOM];

TEST(a_line_that_was_cut_or_changed_anywhere_is_left_out)
{
    char line[AUTO_FILE_LINE], *torn;
    size_t n, length = auto_file_line(line, "zone", &some);
    auto_saved_t kept;

    ck_assert(auto_file_find(line, "zone", &kept));
    for (n = 0; n < length; n++) {
        torn = apr_pstrdup(pool, line);
        torn[n] = '\0';
        ck_assert(!auto_file_find(torn, "zone", &kept));
        torn[n] = line[n] == '7' ? '8' : '7';
        ck_assert(!auto_file_find(torn, "zone", &kept));
        ck_assert(!auto_file_find(line + n + 1, "zone", &kept));
    }
}

TEST(on_another_machine_only_sizes_of_programs_are_restored)
{
    const int64_t week = 7 * 24 * 3600;
    auto_saved_t kept = some;

    ck_assert(auto_file_discard_useless(&kept, some.at + week, some.memory_kb, some.cores));
    ck_assert_uint_eq(kept.limit, some.limit);
    ck_assert(auto_file_discard_useless(&kept, some.at, 2 * some.memory_kb, some.cores));
    ck_assert_uint_eq(kept.limit, 0);
    ck_assert_uint_eq(kept.need_kb, some.need_kb);
    kept = some;
    kept.need_kb = 0;
    ck_assert(!auto_file_discard_useless(&kept, some.at, some.memory_kb, 16));
    /* No program here had so much. */
    kept = some;
    kept.largest_kb = UINT32_MAX;
    ck_assert(auto_file_discard_useless(&kept, some.at, some.memory_kb, some.cores));
    ck_assert_uint_eq(kept.limit, some.limit);
    ck_assert_uint_eq(kept.need_kb, 0);
    ck_assert_uint_eq(kept.largest_kb, 0);
    /* Too old; of a clock that was wrong; of any number. */
    kept = some;
    ck_assert(!auto_file_discard_useless(&kept, some.at + week + 1, some.memory_kb, some.cores));
    ck_assert(!auto_file_discard_useless(&kept, some.at - 61, some.memory_kb, some.cores));
    kept.at = INT64_MAX;
    ck_assert(!auto_file_discard_useless(&kept, some.at, some.memory_kb, some.cores));
}

TEST(a_file_that_is_too_large_is_not_read)
{
    FILE *file = tmpfile();

    ck_assert_int_eq(ftruncate(fileno(file), AUTO_FILE_ROOM), 0);
    ck_assert_int_eq(pwrite(fileno(file), "x", 1, 0), 1);
    auto_file_read(fileno(file), text);
    ck_assert_str_eq(text, "");
    fclose(file);
    auto_file_read(-1, text);
    ck_assert_str_eq(text, "");
}

TEST(a_name_that_is_too_long_is_not_kept)
{
    char line[AUTO_FILE_LINE];
    char *name = apr_palloc(pool, 2 * AUTO_FILE_LINE);

    memset(name, 'x', 2 * AUTO_FILE_LINE);
    name[2 * AUTO_FILE_LINE - 1] = '\0';
    ck_assert_uint_eq(auto_file_line(line, name, &some), 0);
    ck_assert_uint_eq(auto_file_line(line, "a\nb", &some), 0);
}
