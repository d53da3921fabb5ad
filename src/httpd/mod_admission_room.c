/* mod_admission_room.c - let event accept others beside those who are parked.
 *
 * Parked requests are among the connections that event accepts for a child, as
 * AsyncRequestWorkerFactor says. With its default a full queue uses up those of
 * the children that there are, and clients who wait for nothing wait for the
 * parent to start others, up to a second. So where the administrator says no
 * factor, one is put at the end of the configuration, before event reads it.
 * What is said is never changed.
 */
#include <httpd.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <apr_strings.h>
#include <ap_mpm.h>
#include <http_config.h>

#include "mod_admission_private.h"

APLOG_USE_MODULE(admission);

/* Those of event.c. */
#define DEFAULT_FACTOR 2
#define DEFAULT_THREADS 25

#define DEFAULT_QUEUE 100

/* What a child has open besides logs and connections; for each thread. */
#define OTHER_FILES 64
#define FILES_PER_THREAD 4

static long factor_added; /* 0: none */

/* ---- what the configuration says ------------------------------------------------------- */

typedef struct said_t {
    int limits; /* MaxConcurrent */
    int queues; /* AdmissionQueue */
    int logs;   /* each may be an open file */
    long longest;
    int parking_is_off;
    int has_factor;
} said_t;

static int is_log(const char *directive)
{
    size_t length = strlen(directive);

    return length > 3 && strcasecmp(directive + length - 3, "Log") == 0;
}

static void note_directive(const ap_directive_t *directive, said_t *said)
{
    const char *name = directive->directive;

    if (strcasecmp(name, "MaxConcurrent") == 0) {
        said->limits++;
    }
    else if (strcasecmp(name, "AdmissionQueue") == 0) {
        long length = strtol(directive->args, NULL, 10);

        said->queues++;
        said->longest = length > said->longest ? length : said->longest;
    }
    else if (strcasecmp(name, "AdmissionParking") == 0) {
        said->parking_is_off = strcasecmp(directive->args, "Off") == 0;
    }
    else if (strcasecmp(name, "AsyncRequestWorkerFactor") == 0) {
        said->has_factor = 1;
    }
    else if (is_log(name)) {
        said->logs++;
    }
}

/* Sections and what stands in them; as deep as sections are. @return the last
 * one at this level. NOLINTNEXTLINE(misc-no-recursion) */
static ap_directive_t *read_tree(ap_directive_t *directive, said_t *said)
{
    ap_directive_t *last = directive;

    for (; directive; directive = directive->next) {
        note_directive(directive, said);
        read_tree(directive->first_child, said);
        last = directive;
    }
    return last;
}

/* ---- the factor ------------------------------------------------------------------------------ */

static long files_allowed(void)
{
    struct rlimit limit;

    return getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < INT_MAX
               ? (long)limit.rlim_cur
               : INT_MAX;
}

/* With half of a child's threads idle, the longest queue fits into one child
 * beside what the default is for, if the open files allow that: one for each
 * connection, and another for each that is parked. */
static long choose_factor(const said_t *said)
{
    long threads = (long)admission_number_of("ThreadsPerChild",
                                             DEFAULT_THREADS);
    long queue = said->limits > said->queues && said->longest < DEFAULT_QUEUE
                     ? DEFAULT_QUEUE
                     : said->longest;
    long files = files_allowed() - said->logs - OTHER_FILES - queue;
    long factor, allowed;

    if (threads < 1 || threads > INT_MAX || queue > ADM_PARK_SLOTS) {
        return DEFAULT_FACTOR;
    }
    factor = DEFAULT_FACTOR + 2 * ((queue + threads - 1) / threads);
    allowed = files / threads - FILES_PER_THREAD - 1;
    return factor < allowed ? factor : allowed;
}

static void add_factor(apr_pool_t *pconf, ap_directive_t *last, long factor)
{
    ap_directive_t *directive = apr_pcalloc(pconf, sizeof(*directive));

    directive->directive = "AsyncRequestWorkerFactor";
    directive->args = apr_ltoa(pconf, factor);
    directive->filename = "mod_admission";
    directive->parent = last->parent;
    last->next = directive;
    factor_added = factor;
}

void admission_room_pre_config(apr_pool_t *pconf)
{
    said_t said = { 0 };
    ap_directive_t *last = read_tree(ap_conftree, &said);
    long factor;

    factor_added = 0;
    if (!last || !admission_mpm_parks() || said.has_factor
        || said.parking_is_off || said.limits == 0) {
        return;
    }
    factor = choose_factor(&said);
    if (factor > DEFAULT_FACTOR) {
        add_factor(pconf, last, factor);
    }
}

void admission_room_post_config(server_rec *s)
{
    if (factor_added) {
        ap_log_error(APLOG_MARK, APLOG_NOTICE, 0, s, ADMLOGNO(0306)
                     "AsyncRequestWorkerFactor is not set: %ld in place of %d, "
                     "so that children accept other connections beside those "
                     "of parked requests",
                     factor_added, DEFAULT_FACTOR);
    }
}
