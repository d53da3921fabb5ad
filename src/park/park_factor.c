/* park_factor.c - let event accept connections in addition to parked requests.
 *
 * Parked requests count as connections of their child, whose number event
 * limits by AsyncRequestWorkerFactor. With the default, a full queue uses up
 * the connections of all running children, and other clients wait up to a
 * second until the parent has started more. If the administrator sets no
 * factor, a larger one is therefore appended to the configuration before event
 * reads it. A configured factor is never changed.
 */
#include <httpd.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <apr_strings.h>
#include <http_config.h>
#include <http_log.h>

#include "core/adm.h"
#include "module/conf_tree.h"
#include "park_factor.h"
#include "park_mpm.h"
#include "park_room.h"

APLOG_USE_MODULE(admission);

/* Defaults in event.c. */
#define DEFAULT_FACTOR 2
#define DEFAULT_THREADS 25

static long factor_added; /* 0: none added */

typedef struct settings_t {
    int logs; /* each can be an open file */
    bool parking_is_off;
    bool has_factor;
} settings_t;

/* ErrorLog, CustomLog, TransferLog and others. */
static bool is_log(const char *directive)
{
    size_t length = strlen(directive);

    return length > 3 && strcasecmp(directive + length - 3, "Log") == 0;
}

static void note_directive(const ap_directive_t *directive,
                           settings_t *settings)
{
    if (admission_conf_tree_is(directive, "AdmissionParking")) {
        settings->parking_is_off = strcasecmp(directive->args, "Off") == 0;
    }
    else if (admission_conf_tree_is(directive, "AsyncRequestWorkerFactor")) {
        settings->has_factor = true;
    }
    else if (is_log(directive->directive)) {
        settings->logs++;
    }
}

/* Choose a factor with which the longest queue fits into one child whose
 * threads are half idle, in addition to the connections of the default. Open
 * files limit it: one per connection, and a second one per parked request. */
static long choose_factor(const settings_t *settings, long queue)
{
    long threads = (long)admission_conf_tree_number("ThreadsPerChild",
                                                    DEFAULT_THREADS);
    long files = (long)admission_room_files_allowed() - settings->logs
                 - ADMISSION_SPARE_FILES - queue;
    long factor, allowed;

    /* A child with one thread accepts nothing else while it runs a program,
     * whatever the factor. */
    if (threads < 2 || threads > INT_MAX || queue > ADM_PARK_SLOTS) {
        return DEFAULT_FACTOR;
    }
    factor = DEFAULT_FACTOR + 2 * ((queue + threads - 1) / threads);
    allowed = files / threads - ADMISSION_THREAD_FILES - 1;
    return factor < allowed ? factor : allowed;
}

void admission_factor_pre_config(apr_pool_t *pconf)
{
    admission_conf_tree_zones_t zones = admission_conf_tree_zones();
    settings_t settings = { 0 };
    const ap_directive_t *directive;
    long factor;

    factor_added = 0;
    for (directive = ap_conftree; directive;
         directive = admission_conf_tree_next(directive)) {
        note_directive(directive, &settings);
    }
    if (!admission_mpm_way() || settings.has_factor || settings.parking_is_off
        || zones.limits == 0) {
        return;
    }
    factor = choose_factor(&settings, zones.queue);
    if (factor > DEFAULT_FACTOR) {
        admission_conf_tree_add(pconf, "AsyncRequestWorkerFactor", factor);
        factor_added = factor;
    }
}

void admission_factor_start(server_rec *s)
{
    if (factor_added && admission_room_would_park(s)) {
        ap_log_error(
            APLOG_MARK, APLOG_NOTICE, 0, s, ADMLOGNO(0306)
            "AsyncRequestWorkerFactor is not set: using %ld instead of "
            "httpd's default of %d, so that children accept "
            "connections in addition to parked requests",
            factor_added, DEFAULT_FACTOR);
    }
}
