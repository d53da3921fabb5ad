/* test_agent_state.c - what is kept of zones in a file, which may contain anything. */
#include <stdlib.h>
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

static const char *line_of(const char *name, uint32_t limit)
{
    char line[AUTO_FILE_LINE];
    auto_saved_t kept = some;

    kept.limit = limit;
    ck_assert_uint_gt(auto_file_line(line, name, &kept), 0);
    return apr_pstrdup(pool, line);
}

static uint32_t limit_in(const char *lines, const char *name)
{
    auto_saved_t kept;

    return auto_file_find(lines, name, &kept) ? kept.limit : 0;
}

TEST(what_is_written_is_found_again)
{
    static const char *const names[] = { "www:/cgi-bin/", "a b  c",   " ",
                                         "\"q\"",         "\xe4\xf6", "zone 0" };
    const char *lines = "";
    auto_saved_t kept;
    size_t n;
    int fd;
    char path[] = "/tmp/admission-state-XXXXXX";

    for (n = 0; n < COUNT(names); n++) {
        lines = apr_pstrcat(pool, lines, line_of(names[n], (uint32_t)n + 1), NULL);
    }
    fd = mkstemp(path);
    unlink(path);
    ck_assert(auto_file_write(fd, lines, strlen(lines)));
    auto_file_read(fd, text);
    ck_assert_str_eq(text, lines);
    for (n = 0; n < COUNT(names); n++) {
        ck_assert_uint_eq(limit_in(text, names[n]), n + 1);
    }
    ck_assert(auto_file_find(text, names[0], &kept));
    ck_assert_uint_eq(kept.need_kb, some.need_kb);
    ck_assert_uint_eq(kept.largest_kb, some.largest_kb);
    ck_assert_int_eq(kept.at, some.at);
    ck_assert_uint_eq(kept.memory_kb, some.memory_kb);
    ck_assert_uint_eq(kept.cores, some.cores);
    /* Less is written over more. */
    ck_assert(auto_file_write(fd, lines, 0));
    auto_file_read(fd, text);
    ck_assert_str_eq(text, "");
    close(fd);
}

TEST(the_last_line_of_a_zone_counts_and_others_do_not)
{
    const char *lines = apr_pstrcat(pool, line_of("one", 1), line_of("two", 2), line_of("one", 3),
                                    NULL);

    ck_assert_uint_eq(limit_in(lines, "one"), 3);
    ck_assert_uint_eq(limit_in(lines, "two"), 2);
    ck_assert_uint_eq(limit_in(lines, "on"), 0);
    ck_assert_uint_eq(limit_in(lines, "one "), 0);
}

TEST(a_line_that_was_cut_or_changed_anywhere_is_left_out)
{
    const char *line = line_of("zone", 4);
    size_t n, length = strlen(line);
    char *torn;

    for (n = 0; n < length; n++) {
        torn = apr_pstrdup(pool, line);
        torn[n] = '\0';
        ck_assert_uint_eq(limit_in(torn, "zone"), 0);
        torn[n] = line[n] == '7' ? '8' : '7';
        ck_assert_uint_eq(limit_in(torn, "zone"), 0);
        ck_assert_uint_eq(limit_in(line + n + 1, "zone"), 0);
    }
}

TEST(hostile_text_is_survived)
{
    static const char *const texts[] = {
        "\n\n\n",
        "zone",
        "zone ",
        "zone \n",
        "zone 0123456789abcdef \n",
        "zone 0123456789abcdef",
        "zone -1 4 4 4 4 4 4 zone\n",
        "zone cbf29ce484222325 \n",
        "zone \xff\xff\xff\n",
        "zone 0000000000000000 99999999999999999999 1 1 1 1 1 zone\n",
    };
    size_t n;

    for (n = 0; n < COUNT(texts); n++) {
        ck_assert_uint_eq(limit_in(texts[n], "zone"), 0);
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
