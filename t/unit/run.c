/* run.c - runs the tests of all files, or of those named: run test_zone test_lock.c.
 *
 * Each file is a case of its own name, so that CK_RUN_CASE=test_zone does the same.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test_case.h"

#define TEST_TIMEOUT_SEC 200 /* of a case; t/prove sets none, so that Check names it */

typedef struct file_t {
    const char *path; /* __FILE__ */
    char name[64];
    TCase *stories;
    TCase *with_flows; /* or NULL */
} file_t;

enum { FILES_AT_MOST = 100 };

static file_t files[FILES_AT_MOST];

static TCase *new_case(const char *name, void (*begin)(void))
{
    TCase *stories = tcase_create(name);

    tcase_add_checked_fixture(stories, begin, tear_down);
    tcase_set_timeout(stories, TEST_TIMEOUT_SEC);
    return stories;
}

static file_t *file_of(const char *path)
{
    const char *base = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    file_t *file = files;

    while (file->path && strcmp(file->path, path)) {
        file++;
    }
    if (!file->path) {
        if (file == files + FILES_AT_MOST - 1) {
            abort();
        }
        file->path = path;
        strncpy(file->name, base, strcspn(base, "."));
        file->stories = new_case(file->name, set_up);
    }
    return file;
}

void test_case_with_flows(const char *path)
{
    file_of(path)->with_flows = new_case("with flows", set_up_with_flows);
}

void test_case_register(const char *path, void (*add)(TCase *stories))
{
    file_t *file = file_of(path);

    add(file->stories);
    if (file->with_flows) {
        add(file->with_flows);
    }
}

static int is_wanted(const file_t *file, char **names)
{
    int n;

    for (n = 0; names[n]; n++) {
        size_t length = strcspn(names[n], ".");

        if (length == strlen(file->name) && !strncmp(names[n], file->name, length)) {
            break;
        }
    }
    return names[n] || !names[0];
}

/* TAP has the file of a failure, but not its line. */
static void print_lines_of_failures(SRunner *runner)
{
    TestResult **failures = srunner_failures(runner);
    int n, failed = srunner_ntests_failed(runner);

    for (n = 0; n < failed; n++) {
        printf("# %s:%d: %s\n", tr_lfile(failures[n]), tr_lno(failures[n]), tr_msg(failures[n]));
    }
    free(failures);
}

int main(int argc, char **argv)
{
    Suite *suite = suite_create(argc == 2 ? argv[1] : "unit");
    SRunner *runner = srunner_create(suite);
    int cases = 0, failed;
    file_t *file;

    for (file = files; file->path; file++) {
        if (is_wanted(file, argv + 1)) {
            suite_add_tcase(suite, file->stories);
            if (file->with_flows) {
                suite_add_tcase(suite, file->with_flows);
            }
            cases++;
        }
    }
    if (!cases) {
        puts("1..0 # skip no such file, or configure has left it out");
        return EXIT_SUCCESS;
    }
    srunner_set_tap(runner, "-");
    srunner_run_all(runner, CK_SILENT);
    failed = srunner_ntests_failed(runner);
    print_lines_of_failures(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
