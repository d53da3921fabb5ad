/* fair_conf.h - the directives AdmissionFair, AdmissionPriority and AdmissionCost, and
 * their values.
 * Included by the configuration record and the list of directives.
 */
#ifndef FAIR_CONF_H
#define FAIR_CONF_H

#include <stdbool.h>

#include <httpd.h>
#include <ap_expr.h>
#include <http_config.h>

/** What AdmissionFair distinguishes requests by. */
typedef enum admission_key_kind_t {
    ADMISSION_KEY_OFF,
    ADMISSION_KEY_CLIENT,
    ADMISSION_KEY_HOST,
    ADMISSION_KEY_USER,
    ADMISSION_KEY_EXPRESSION
} admission_key_kind_t;

typedef struct fair_t {
    const char *text; /* as written in the configuration */
    admission_key_kind_t kind;
    int bits;  /* prefix length of an IPv4 address */
    int bits6; /* prefix length of an IPv6 address */
    const ap_expr_info_t *expression;
    int max; /* permits per key; 0: unlimited */
} fair_t;

/** One AdmissionPriority or AdmissionCost directive. */
typedef struct admission_rule_t {
    int value; /* an adm_priority_t, or a number of permits */
    const ap_expr_info_t *expression; /* NULL: always */
} admission_rule_t;

/** Per section; a member that is NULL is unset. */
typedef struct fair_conf_t {
    const fair_t *key;
    apr_array_header_t *priorities; /* of admission_rule_t */
    apr_array_header_t *costs;      /* of admission_rule_t */
} fair_conf_t;

/** @return the values of @a add; of @a base where @a add has none. */
static inline fair_conf_t fair_conf_merge(fair_conf_t base, fair_conf_t add)
{
    return (fair_conf_t){ add.key ? add.key : base.key,
                          add.priorities ? add.priorities : base.priorities,
                          add.costs ? add.costs : base.costs };
}

/** httpd calls these for the directives. @return an error, or NULL. */
const char *fair_set(cmd_parms *cmd, void *dir_conf, const char *key,
                     const char *option);

const char *fair_set_priority(cmd_parms *cmd, void *dir_conf, const char *args);

const char *fair_set_cost(cmd_parms *cmd, void *dir_conf, const char *args);

#define FAIR_DIRECTIVES                                                 \
    AP_INIT_TAKE12(                                                     \
        "AdmissionFair", fair_set, NULL, ZONE_CONTEXT,                  \
        "client[/bits[/bits6]], host, user, an expression or 'off', "   \
        "and max=number"),                                              \
        AP_INIT_RAW_ARGS(                                               \
            "AdmissionPriority", fair_set_priority, NULL, ZONE_CONTEXT, \
            "high or low, and an expression that is true for these "    \
            "requests"),                                                \
        AP_INIT_RAW_ARGS(                                               \
            "AdmissionCost", fair_set_cost, NULL, ZONE_CONTEXT,         \
            "number of permits per request, and an expression that is " \
            "true for these requests")

#endif
