/* conf_tree.c - search the tree of all directives in the configuration files,
 * of all modules. The tree has no .htaccess files.
 */
#include <httpd.h>
#include <apr_strings.h>
#include <http_core.h>
#include <http_log.h>

#include "parse.h"
#include "conf_tree.h"
#include "zones.h"

APLOG_USE_MODULE(admission);

/* ---- the tree of directives ---------------------------------------------- */

double admission_conf_tree_number(const char *name, double otherwise)
{
    const ap_directive_t *directive;

    /* Only the top level, where the last directive applies. */
    for (directive = ap_conftree; directive; directive = directive->next) {
        if (strcasecmp(directive->directive, name) == 0) {
            otherwise = strtod(directive->args, NULL);
        }
    }
    return otherwise;
}

const ap_directive_t *admission_conf_tree_next(const ap_directive_t *directive)
{
    if (directive->first_child) {
        return directive->first_child;
    }
    while (directive && !directive->next) {
        directive = directive->parent;
    }
    return directive ? directive->next : NULL;
}

bool admission_conf_tree_is(const ap_directive_t *directive, const char *name)
{
    return strcasecmp(directive->directive, name) == 0;
}

const char *admission_conf_tree_argument(apr_pool_t *p,
                                         const ap_directive_t *directive)
{
    const char *args = directive->args ? directive->args : "";

    return ap_getword_conf(p, &args);
}

static bool has_word(apr_pool_t *p, const ap_directive_t *directive,
                     const char *word)
{
    const char *args = directive->args ? directive->args : "";

    while (*args) {
        if (strcasecmp(ap_getword_conf(p, &args), word) == 0) {
            return true;
        }
    }
    return false;
}

bool admission_conf_tree_anywhere(apr_pool_t *p, const char *name,
                                  const char *word)
{
    const ap_directive_t *directive;

    for (directive = ap_conftree; directive;
         directive = admission_conf_tree_next(directive)) {
        if (admission_conf_tree_is(directive, name)
            && (!word || has_word(p, directive, word))) {
            return true;
        }
    }
    return false;
}

/* Assumed maximum of `MaxConcurrent auto`: neither its result nor the number of
 * workers is known yet. */
#define LIMIT_OF_AUTO 64

static long limit_of_args(const char *args)
{
    char *behind_min, *end;
    long max;

    if (strncasecmp(args, "auto", 4) != 0) {
        return strtol(args, NULL, 10);
    }
    strtol(args + 4, &behind_min, 10);
    max = strtol(behind_min, &end, 10);
    return end != behind_min ? max : LIMIT_OF_AUTO;
}

admission_conf_tree_zones_t admission_conf_tree_zones(void)
{
    admission_conf_tree_zones_t zones = { 0 };
    const ap_directive_t *directive;
    int queues = 0;

    for (directive = ap_conftree; directive;
         directive = admission_conf_tree_next(directive)) {
        if (admission_conf_tree_is(directive, "MaxConcurrent")) {
            long limit = limit_of_args(directive->args);

            zones.limits++;
            zones.limit = limit > zones.limit ? limit : zones.limit;
        }
        else if (admission_conf_tree_is(directive, "AdmissionQueue")) {
            long queue = strtol(directive->args, NULL, 10);

            queues++;
            zones.queue = queue > zones.queue ? queue : zones.queue;
        }
    }
    if (zones.limits > queues && zones.queue < ADMISSION_DEFAULT_QUEUE_LENGTH) {
        zones.queue = ADMISSION_DEFAULT_QUEUE_LENGTH;
    }
    return zones;
}

void admission_conf_tree_add(apr_pool_t *pconf, const char *name, long number)
{
    ap_directive_t *directive = apr_pcalloc(pconf, sizeof(*directive));
    ap_directive_t *last = ap_conftree;

    while (last->next) {
        last = last->next;
    }
    directive->directive = name;
    directive->args = apr_ltoa(pconf, number);
    directive->filename = "mod_admission";
    directive->parent = last->parent;
    last->next = directive;
}

/* ---- queues -------------------------------------------------------------- */

static void warn_of_target(apr_pool_t *p, server_rec *s,
                           const ap_directive_t *directive)
{
    admission_queue_t queue = { .timeout = ADMISSION_DEFAULT_QUEUE_TIMEOUT };
    const char *args = directive->args;

    ap_getword_conf(p, &args);
    while (*args) {
        admission_parse_queue_option(ap_getword_conf(p, &args), &queue);
    }
    if (queue.target > queue.timeout) {
        ap_log_error(
            APLOG_MARK, APLOG_WARNING, 0, s, ADMLOGNO(0121)
            "AdmissionQueue in %s:%d: the target of %" APR_TIME_T_FMT
            " ms is longer than the timeout of %" APR_TIME_T_FMT
            " ms: a request whose expected wait is between the two "
            "is queued, and rejected at the timeout; set a lower target",
            directive->filename, directive->line_num,
            apr_time_as_msec(queue.target), apr_time_as_msec(queue.timeout));
    }
}

/* ---- directives without a zone ------------------------------------------- */

static bool needs_zone(const ap_directive_t *directive)
{
    static const char *const names[] = {
        "AdmissionQueue",    "AdmissionHandlers", "AdmissionExempt",
        "AdmissionReject",   "AdmissionDryRun",   "AdmissionFair",
        "AdmissionPriority", "AdmissionCost"
    };
    apr_size_t i;

    for (i = 0; i < sizeof(names) / sizeof(*names); i++) {
        if (admission_conf_tree_is(directive, names[i])) {
            return true;
        }
    }
    return false;
}

void admission_conf_tree_warn(apr_pool_t *p, server_rec *s)
{
    bool has_zones = admission_zones() != NULL;
    const ap_directive_t *directive;

    for (directive = ap_conftree; directive;
         directive = admission_conf_tree_next(directive)) {
        if (!has_zones && needs_zone(directive)) {
            ap_log_error(
                APLOG_MARK, APLOG_WARNING, 0, s, ADMLOGNO(0006)
                "%s in %s:%d has no effect: no MaxConcurrent sets a limit; add "
                "one, or remove the directive",
                directive->directive, directive->filename, directive->line_num);
            return;
        }
        if (admission_conf_tree_is(directive, "AdmissionQueue")) {
            warn_of_target(p, s, directive);
        }
    }
}
