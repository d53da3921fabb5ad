/* fair_key.c - key, priority and cost of a request in a fair queue. */
#include <httpd.h>
#include <apr_network_io.h>
#include <apr_siphash.h>
#include <apr_strings.h>
#include <http_log.h>

#include "module/zones.h"
#include "fair_key.h"
#include "module/process.h"

APLOG_USE_MODULE(admission);

/* ---- the client's network ------------------------------------------------- */

/* Clear all but the first @a bits bits of an address. */
static void mask(unsigned char *address, int length, int bits)
{
    int i;

    for (i = 0; i < length; i++) {
        int left = bits - 8 * i;

        if (left < 8) {
            address[i] &= (unsigned char)(left > 0 ? 0xff << (8 - left) : 0);
        }
    }
}

/* @return "192.0.2.0/24"; without "/24" for a complete address. */
static const char *name_network(apr_pool_t *p, const apr_sockaddr_t *address,
                                int bits, int all)
{
    char *text = NULL;

    if (apr_sockaddr_ip_get(&text, (apr_sockaddr_t *)address) != APR_SUCCESS) {
        return "";
    }
    return bits < all ? apr_psprintf(p, "%s/%d", text, bits) : text;
}

/* @return the network of the client's address, of fair->bits or bits6 bits. */
static const char *client_key(request_rec *r, const fair_t *fair)
{
    apr_sockaddr_t address = *r->useragent_addr;

    address.pool = r->pool;
#if APR_HAVE_IPV6
    if (address.family == APR_INET6) {
        unsigned char *bytes = address.sa.sin6.sin6_addr.s6_addr;

        address.ipaddr_ptr = bytes;
        if (!IN6_IS_ADDR_V4MAPPED(&address.sa.sin6.sin6_addr)) {
            mask(bytes, 16, fair->bits6);
            return name_network(r->pool, &address, fair->bits6, 128);
        }
        mask(bytes + 12, 4, fair->bits);
        return name_network(r->pool, &address, fair->bits, 32);
    }
#endif
    address.ipaddr_ptr = &address.sa.sin.sin_addr;
    mask((unsigned char *)&address.sa.sin.sin_addr, 4, fair->bits);
    return name_network(r->pool, &address, fair->bits, 32);
}

/* ---- the key -------------------------------------------------------------- */

/* ADM_ADMITTED: no other message uses this outcome's log interval. */
static bool may_log(const admission_zone_t *zone)
{
    return admission_process_may_log(zone->handle, ADM_ADMITTED);
}

/* @return the key; "" if the expression fails. All such requests share the key
 * "". */
static const char *expression_key(request_rec *r, const admission_zone_t *zone,
                                  const fair_t *fair)
{
    const char *error = NULL;
    const char *text = ap_expr_str_exec(r, fair->expression, &error);

    if (!error) {
        return text;
    }
    if (may_log(zone)) {
        ap_log_rerror(
            APLOG_MARK, APLOG_WARNING, 0, r, ADMLOGNO(0209)
            "zone %s: the expression of AdmissionFair failed: %s; the request "
            "has the empty key, which all such requests share; correct the "
            "expression; not logged again for 1 minute",
            zone->name, error);
    }
    return "";
}

static const char *text_of_key(request_rec *r, const admission_zone_t *zone,
                               const fair_t *fair)
{
    switch (fair->kind) {
    case ADMISSION_KEY_CLIENT:
        return client_key(r, fair);
    case ADMISSION_KEY_HOST:
        return admission_zones_server(r->pool, r->server);
    case ADMISSION_KEY_USER:
        return r->user ? r->user : "";
    case ADMISSION_KEY_EXPRESSION:
        return expression_key(r, zone, fair);
    case ADMISSION_KEY_OFF:
        break;
    }
    return "";
}

/* Hashed with a secret, so that clients cannot choose keys that collide. */
static uint64_t hash_of(const char *text)
{
    uint64_t hash = apr_siphash24(text, strlen(text),
                                  adm_segment_secret(
                                      admission_process_segment()));

    return hash ? hash : 1; /* 0 means no key */
}

/* ---- priority and cost ---------------------------------------------------- */

/* An expression that fails counts as false. */
static bool is_true(request_rec *r, const admission_zone_t *zone,
                    const ap_expr_info_t *expression, const char *directive)
{
    const char *error = NULL;
    int rv = ap_expr_exec(r, expression, &error);

    if (rv < 0 && may_log(zone)) {
        ap_log_rerror(
            APLOG_MARK, APLOG_WARNING, 0, r, ADMLOGNO(0210)
            "zone %s: an expression of %s failed: %s; it is treated as false; "
            "correct the expression; not logged again for 1 minute",
            zone->name, directive, error);
    }
    return rv > 0;
}

/* @return the value of the first rule that is true; @a otherwise if none is. */
static int first_true(request_rec *r, const admission_zone_t *zone,
                      const apr_array_header_t *rules, const char *directive,
                      int otherwise)
{
    int i;

    for (i = 0; rules && i < rules->nelts; i++) {
        const admission_rule_t *rule = &APR_ARRAY_IDX(rules, i,
                                                      admission_rule_t);

        if (!rule->expression
            || is_true(r, zone, rule->expression, directive)) {
            return rule->value;
        }
    }
    return otherwise;
}

void admission_key_ask(request_rec *r, const admission_dir_conf_t *conf,
                       const admission_zone_t *zone, adm_entry_t *entry)
{
    const fair_t *fair = conf->fair.key;

    if (fair && fair->kind != ADMISSION_KEY_OFF) {
        entry->key_name = text_of_key(r, zone, fair);
        entry->key = hash_of(entry->key_name);
        entry->key_max = (uint32_t)fair->max;
    }
    entry->priority = (adm_priority_t)first_true(r, zone, conf->fair.priorities,
                                                 "AdmissionPriority",
                                                 ADM_PRIORITY_NORMAL);
    entry->cost = (uint32_t)first_true(r, zone, conf->fair.costs,
                                       "AdmissionCost", 1);
}
