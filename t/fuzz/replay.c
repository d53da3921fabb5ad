/* replay.c - tells every story of the corpus again. TAP.
 *
 * Whoever aborts or hangs has failed: the plan comes last.
 */
#include <string.h>
#include <sys/time.h>

#include <apr_file_info.h>
#include <apr_file_io.h>
#include <apr_general.h>
#include <apr_lib.h>
#include <apr_strings.h>

#include "fuzz.h"

#define LONGEST_STORY_SEC 20

static int told;

/* CPU time, not time of day: on a busy machine a story takes as long as it likes. SIGPROF
 * ends the program; 0: no limit. */
static void limit_time(int seconds)
{
    const struct itimerval timer = { .it_value = { .tv_sec = seconds } };

    setitimer(ITIMER_PROF, &timer, NULL);
}

static void tell(const char *name, const char *file, void (*target)(const uint8_t *, size_t),
                 apr_pool_t *pool)
{
    apr_file_t *in;
    apr_finfo_t info;
    uint8_t *data;
    apr_size_t size;

    MUST(apr_file_open(&in, file, APR_READ, 0, pool) == APR_SUCCESS);
    MUST(apr_file_info_get(&info, APR_FINFO_SIZE, in) == APR_SUCCESS);
    size = (apr_size_t)info.size;
    /* Exactly as large, so that a sanitizer sees a read behind it. */
    data = malloc(size ? size : 1);
    MUST(data && (size == 0 || apr_file_read_full(in, data, size, NULL) == APR_SUCCESS));
    apr_file_close(in);

    limit_time(LONGEST_STORY_SEC);
    target(data, size);
    limit_time(0);
    free(data);
    printf("ok %d - %s: %s\n", ++told, name, apr_filepath_name_get(file));
    fflush(stdout);
}

static void tell_all(const char *name, void (*target)(const uint8_t *, size_t))
{
    const char *source = getenv("ADMISSION_SRCDIR");
    const char *folder;
    apr_pool_t *pool;
    apr_dir_t *dir;
    apr_finfo_t entry;
    int before = told;

    apr_pool_create(&pool, NULL);
    folder = apr_pstrcat(pool, source ? source : ".", "/t/fuzz/corpus/", name, NULL);
    MUST(apr_dir_open(&dir, folder, pool) == APR_SUCCESS);
    while (apr_dir_read(&entry, APR_FINFO_NAME, dir) == APR_SUCCESS) {
        if (entry.name[0] != '.') {
            tell(name, apr_pstrcat(pool, folder, "/", entry.name, NULL), target, pool);
        }
    }
    MUST(told > before);
    apr_pool_destroy(pool);
}

int main(void)
{
    apr_initialize();
    tell_all("directives", fuzz_directives);
    tell_all("tune", fuzz_tune);
    tell_all("state", fuzz_state);
    tell_all("segment_parent", fuzz_segment_parent);
    tell_all("segment_child", fuzz_segment_child);
#ifdef HAVE_HIREDIS
    tell_all("redis", fuzz_redis);
#endif
    printf("1..%d\n", told);
    return 0;
}
