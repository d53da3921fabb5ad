/* test_case.h - a test registers itself.
 *
 * t/unit/run is one program of all files: what each defines it finds by itself.
 */
#ifndef TEST_CASE_H
#define TEST_CASE_H

#include <check.h>

/** Check's own macros write the place of each assertion that holds to a file, a third of the time
 * of test_crash. In return, they name the last one before a signal. */
#undef ck_assert_msg
#undef ck_assert
#define ck_assert_msg(expr, ...) ((expr) ? (void)0 : ck_abort_msg(__VA_ARGS__))
#define ck_assert(expr) ck_assert_msg(expr, "Assertion '%s' failed", #expr)

/** A test, whose name tells what is so. Its segment is checked at its end. */
#define TEST(name) TESTS(name, 0, 1)

/** One for each _i from @a from to below @a to. */
#define TESTS(name, from, to)                                  \
    static void name##_story(int _i);                          \
    START_TEST(name)                                           \
    {                                                          \
        name##_story(_i);                                      \
    }                                                          \
    END_TEST                                                   \
    static void name##_add(TCase *stories)                     \
    {                                                          \
        tcase_add_loop_test(stories, name, from, to);          \
    }                                                          \
    __attribute__((constructor)) static void name##_tell(void) \
    {                                                          \
        test_case_register(__FILE__, name##_add);              \
    }                                                          \
    static void name##_story(CK_ATTRIBUTE_UNUSED int _i)

/** At the head of a file: its tests run twice, in zones without flows and with. */
#define WITH_FLOWS_TOO                                             \
    __attribute__((constructor)) static void with_flows_tell(void) \
    {                                                              \
        test_case_with_flows(__FILE__);                            \
    }                                                              \
    struct semicolon

void test_case_register(const char *file, void (*add)(TCase *stories));
void test_case_with_flows(const char *file);

/** Around each test. */
void set_up(void);
void set_up_with_flows(void);
void tear_down(void);

#endif
