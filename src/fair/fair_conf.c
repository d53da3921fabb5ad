/* fair_conf.c - order of the queue: AdmissionFair, AdmissionPriority and
 * AdmissionCost.
 */
#include <httpd.h>
#include <apr_strings.h>
#include <http_log.h>

#include "module/conf.h"
#include "module/parse.h"
#include "module/location.h"
#include "module/zones.h"

APLOG_USE_MODULE(admission);

#define DEFAULT_BITS 32
#define DEFAULT_BITS6 64

/* ---- AdmissionFair -------------------------------------------------------- */

/* Parse "/24", "/24/56" or "". @return whether it is valid. */
static bool parse_bits(apr_pool_t *p, const char *text, fair_t *fair)
{
    const char *second;

    if (*text != '/') {
        return *text == '\0';
    }
    second = strchr(text + 1, '/');
    fair->bits = admission_parse_number(
        second ? apr_pstrmemdup(p, text + 1, (apr_size_t)(second - text - 1))
               : text + 1,
        1, 32);
    if (second) {
        fair->bits6 = admission_parse_number(second + 1, 1, 128);
    }
    return fair->bits > 0 && fair->bits6 > 0;
}

/* A constant expression would give all requests the same key. It is probably a
 * misspelled keyword. */
static const char *parse_expression(cmd_parms *cmd, const char *text,
                                    fair_t *fair)
{
    const char *error = NULL;

    if (!strstr(text, "%{")) {
        return "it has no variable such as %{HTTP:X-Api-Key}";
    }
    fair->kind = ADMISSION_KEY_EXPRESSION;
    fair->expression = ap_expr_parse_cmd(cmd, text, AP_EXPR_FLAG_STRING_RESULT,
                                         &error, NULL);
    return error;
}

static const char *parse_key(cmd_parms *cmd, const char *text, fair_t *fair)
{
    if (strcasecmp(text, "off") == 0) {
        return NULL;
    }
    if (strcasecmp(text, "host") == 0) {
        fair->kind = ADMISSION_KEY_HOST;
        return NULL;
    }
    if (strcasecmp(text, "user") == 0) {
        fair->kind = ADMISSION_KEY_USER;
        return NULL;
    }
    if (strncasecmp(text, "client", 6) == 0
        && (text[6] == '\0' || text[6] == '/')) {
        fair->kind = ADMISSION_KEY_CLIENT;
        return parse_bits(cmd->pool, text + 6, fair)
                   ? NULL
                   : "the range of IPv4 bits is 1 to 32, of IPv6 bits 1 to 128";
    }
    return parse_expression(cmd, text, fair);
}

const char *fair_set(cmd_parms *cmd, void *dir_conf, const char *key,
                     const char *option)
{
    admission_dir_conf_t *conf = dir_conf;
    fair_t *fair = apr_pcalloc(cmd->pool, sizeof(*fair));
    const char *error = admission_location_mark(cmd, dir_conf);

    if (error) {
        return error;
    }
    *fair = (fair_t){ .text = key,
                      .bits = DEFAULT_BITS,
                      .bits6 = DEFAULT_BITS6 };
    error = parse_key(cmd, key, fair);
    if (error) {
        return apr_psprintf(cmd->pool,
                            "AdmissionFair: '%s' is not client[/bits[/bits6]], "
                            "host, user, off or an expression that httpd "
                            "allows: %s",
                            key, error);
    }
    if (option && fair->kind == ADMISSION_KEY_OFF) {
        return apr_psprintf(
            cmd->pool, "AdmissionFair: unexpected argument '%s' after 'off'",
            option);
    }
    if (option) {
        fair->max = strncasecmp(option, "max=", 4) == 0
                        ? admission_parse_number(option + 4, 1,
                                                 ADMISSION_LIMIT_MAX)
                        : -1;
        if (fair->max < 0) {
            return apr_psprintf(cmd->pool,
                                "AdmissionFair: '%s' is not max=number with a "
                                "number from 1 to %d",
                                option, ADMISSION_LIMIT_MAX);
        }
    }
    conf->fair.key = fair;
    if (fair->kind != ADMISSION_KEY_OFF) {
        admission_zones_note_flows(cmd, conf);
    }
    return NULL;
}

/* ---- AdmissionPriority and AdmissionCost ---------------------------------- */

static void add_rule(cmd_parms *cmd, admission_dir_conf_t *conf,
                     apr_array_header_t **rules, const admission_rule_t *rule)
{
    if (!*rules) {
        *rules = apr_array_make(cmd->pool, 2, sizeof(*rule));
    }
    APR_ARRAY_PUSH(*rules, admission_rule_t) = *rule;
    admission_zones_note_flows(cmd, conf);
}

const char *fair_set_priority(cmd_parms *cmd, void *dir_conf, const char *args)
{
    admission_dir_conf_t *conf = dir_conf;
    admission_rule_t rule = { .value = ADM_PRIORITY_HIGH };
    const char *error = admission_location_mark(cmd, dir_conf);
    const char *word = ap_getword_conf(cmd->pool, &args);

    if (error) {
        return error;
    }
    if (strcasecmp(word, "low") == 0) {
        rule.value = ADM_PRIORITY_LOW;
    }
    else if (strcasecmp(word, "high") != 0) {
        return apr_psprintf(cmd->pool,
                            "AdmissionPriority: '%s' is not high or low", word);
    }
    if (*args == '\0') {
        return apr_psprintf(cmd->pool,
                            "AdmissionPriority: the expression after '%s' is "
                            "missing",
                            word);
    }
    error = admission_parse_condition(cmd, args, &rule.expression);
    if (!error) {
        add_rule(cmd, conf, &conf->fair.priorities, &rule);
    }
    return error;
}

const char *fair_set_cost(cmd_parms *cmd, void *dir_conf, const char *args)
{
    admission_dir_conf_t *conf = dir_conf;
    admission_rule_t rule = { 0 };
    const char *error = admission_location_mark(cmd, dir_conf);
    const char *word = ap_getword_conf(cmd->pool, &args);

    if (error) {
        return error;
    }
    rule.value = admission_parse_number(word, 1, ADMISSION_LIMIT_MAX);
    if (rule.value < 0) {
        return apr_psprintf(cmd->pool,
                            "AdmissionCost: '%s' is not a number of permits "
                            "from 1 to %d",
                            word, ADMISSION_LIMIT_MAX);
    }
    error = *args ? admission_parse_condition(cmd, args, &rule.expression)
                  : NULL;
    if (!error) {
        add_rule(cmd, conf, &conf->fair.costs, &rule);
    }
    return error;
}
