/* conf_tree.c - search the tree of all directives in the configuration files,
 * of all modules. The tree has no .htaccess files.
 */
#include <httpd.h>
#include <apr_strings.h>

#include "conf_tree.h"

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

const char *admission_conf_tree_section(apr_pool_t *p,
                                        const ap_directive_t *section)
{
    char *copy = apr_pstrdup(p, section->args ? section->args : "");
    char *bracket = strrchr(copy, '>');
    const char *kind = section->directive + 1;
    int length = (int)strlen(kind);
    const char *args = copy, *arg, *tilde = "";

    if (bracket && bracket[1] == '\0') {
        *bracket = '\0';
    }
    arg = ap_getword_conf(p, &args);
    if (length > 5 && strcasecmp(kind + length - 5, "Match") == 0) {
        length -= 5; /* <LocationMatch x> is equivalent to <Location ~ x> */
        tilde = "~";
    }
    else if (strcmp(arg, "~") == 0) {
        arg = ap_getword_conf(p, &args);
        tilde = "~";
    }
    if (length == 8 && strncasecmp(kind, "Location", 8) == 0) {
        return apr_pstrcat(p, tilde, arg, NULL);
    }
    if (admission_conf_tree_is(section, "<If")
        || admission_conf_tree_is(section, "<ElseIf")
        || admission_conf_tree_is(section, "<Else")) {
        return NULL;
    }
    return apr_psprintf(p, "%.*s:%s%s", length, kind, tilde, arg);
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
