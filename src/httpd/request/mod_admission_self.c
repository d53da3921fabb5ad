/* mod_admission_self.c - requests that this server sends to itself.
 *
 * Whoever holds a permit and waits for an answer of the same zone would wait for
 * himself. mod_proxy's requests to one of our own addresses carry a token of each
 * ticket that their sender holds, and those that it came with itself:
 *
 *   Admission-Ticket: TOKEN/MAC TOKEN/MAC
 *
 * The key of the MAC is known to processes of this httpd only, and a token is
 * good while its ticket holds its permit. Every request loses the header before
 * other modules see it.
 */
#include <httpd.h>
#include <ap_listen.h>
#include <apr_siphash.h>
#include <apr_strings.h>
#include <apr_uri.h>
#include <http_log.h>
#include <mod_proxy.h>

#include "request/mod_admission_self.h"
#include "request/mod_admission_visit.h"
#include "server/mod_admission_process.h"

APLOG_USE_MODULE(admission);

#define HEADER "Admission-Ticket"
#define KEY_KEY "mod_admission-key"   /* over restarts */
#define TOKENS_KEY "admission-tokens" /* in the pool of the client's request */
#define TOKENS_MAX 1024               /* characters in one header */
#define MAC_LENGTH (2 * APR_SIPHASH_DSIZE)

/* Private, in the parent before it forks; the same over restarts. */
static const unsigned char *mac_key;

static void log_no_key(server_rec *s, apr_status_t rv)
{
    ap_log_error(APLOG_MARK, APLOG_ERR, rv, s, ADMLOGNO(0127)
                 "no random bytes for a key, requests that this server sends "
                 "to itself are not recognized");
}

int admission_self_post_config(apr_pool_t *pconf, apr_pool_t *plog,
                               apr_pool_t *ptemp, server_rec *s)
{
    unsigned char *retained = ap_retained_data_get(KEY_KEY);
    apr_status_t rv;

    (void)pconf;
    (void)plog;
    (void)ptemp;
    mac_key = NULL;
    if (!retained) {
        unsigned char random[APR_SIPHASH_KSIZE];

        rv = apr_generate_random_bytes(random, sizeof(random));
        if (rv != APR_SUCCESS) {
            log_no_key(s, rv);
            return OK;
        }
        retained = ap_retained_data_create(KEY_KEY, sizeof(random));
        memcpy(retained, random, sizeof(random));
    }
    mac_key = retained;
    return OK;
}

/* ---- tokens -------------------------------------------------------------- */

static const char *mac_of(apr_pool_t *p, const char *token)
{
    unsigned char mac[APR_SIPHASH_DSIZE];
    char *text = apr_palloc(p, MAC_LENGTH + 1);

    apr_siphash24_auth(mac, token, strlen(token), mac_key);
    ap_bin2hex(mac, sizeof(mac), text);
    return text;
}

/* In a time that tells nothing of where they differ. */
static bool is_same_mac(const char *one, const char *other)
{
    unsigned char difference = 0;
    int i;

    if (strlen(one) != MAC_LENGTH || strlen(other) != MAC_LENGTH) {
        return false;
    }
    for (i = 0; i < MAC_LENGTH; i++) {
        difference |= (unsigned char)(one[i] ^ other[i]);
    }
    return difference == 0;
}

/* @return the next token of ours in a header; NULL: there is none. Moves @a text
 * behind it. */
static const char *next_token(apr_pool_t *p, const char **text)
{
    while (**text) {
        char *word = ap_getword_white(p, text);
        char *mac = strchr(word, '/');

        if (mac) {
            *mac++ = '\0';
            if (is_same_mac(mac, mac_of(p, word))) {
                return word;
            }
        }
    }
    return NULL;
}

static const request_rec *first_of(const request_rec *r)
{
    while (r->main || r->prev) {
        r = r->main ? r->main : r->prev;
    }
    return r;
}

/* @return what the client's request came with; "": nothing. */
static const char *tokens_of(const request_rec *r)
{
    void *tokens = NULL;

    apr_pool_userdata_get(&tokens, TOKENS_KEY, first_of(r)->pool);
    return tokens ? tokens : "";
}

/* ---- sent ---------------------------------------------------------------- */

static const char *backend_of(const request_rec *r)
{
    if (!r->filename || strncmp(r->filename, "proxy:", 6) != 0) {
        return NULL;
    }
    return strncmp(r->filename + 6, "balancer:", 9) == 0
               ? apr_table_get(r->subprocess_env, "BALANCER_WORKER_NAME")
               : r->filename + 6;
}

static bool is_any(const char *ip)
{
    return strcmp(ip, "0.0.0.0") == 0 || strcmp(ip, "::") == 0;
}

static bool is_loopback(const char *ip)
{
    return strncmp(ip, "127.", 4) == 0 || strcmp(ip, "::1") == 0;
}

/* An address on which this very server listens. Names are not resolved: what
 * they mean to mod_proxy may be something else. */
static bool is_own_address(const conn_rec *c, const char *host, apr_port_t port)
{
    const ap_listen_rec *listener;

    host = strcasecmp(host, "localhost") == 0 ? "127.0.0.1" : host;
    for (listener = ap_listeners; listener; listener = listener->next) {
        char ip[64];

        if (listener->bind_addr->port == port
            && apr_sockaddr_ip_getbuf(ip, sizeof(ip), listener->bind_addr)
                   == APR_SUCCESS
            && (strcmp(ip, host) == 0
                || (is_any(ip)
                    && (is_loopback(host)
                        || strcmp(host, c->local_ip) == 0)))) {
            return true;
        }
    }
    return false;
}

static bool leads_to_self(const request_rec *r)
{
    const conn_rec *c = r->connection->master ? r->connection->master
                                              : r->connection;
    const char *backend = backend_of(r);
    apr_uri_t uri;

    return backend && apr_uri_parse(r->pool, backend, &uri) == APR_SUCCESS
           && uri.scheme && uri.hostname && strncmp(uri.scheme, "http", 4) == 0
           && is_own_address(c, uri.hostname,
                             uri.port ? uri.port
                                      : apr_uri_port_of_scheme(uri.scheme));
}

static const char *add_token(apr_pool_t *p, const char *tokens,
                             const char *token)
{
    const char *longer = apr_pstrcat(p, tokens, *tokens ? " " : "", token, "/",
                                     mac_of(p, token), NULL);

    return strlen(longer) <= TOKENS_MAX ? longer : tokens;
}

int admission_self_proxy_fixups(request_rec *r)
{
    const request_rec *first = first_of(r);
    admission_visit_t *visit = admission_visit_first(r->connection);
    const char *tokens = tokens_of(r);
    char token[ADM_TOKEN_LENGTH];

    if (!mac_key || (!visit && !*tokens) || !leads_to_self(r)) {
        return DECLINED;
    }
    for (; visit; visit = visit->next) {
        if (visit->root == first && atomic_load(&visit->ticket.held)) {
            adm_program_token(&visit->ticket, token);
            tokens = add_token(r->pool, tokens, token);
        }
    }
    if (*tokens) {
        /* A copy that mod_proxy has made for what it sends. */
        apr_table_setn(r->headers_in, HEADER, tokens);
    }
    return OK;
}

/* ---- received ------------------------------------------------------------ */

int admission_self_post_read_request(request_rec *r)
{
    const char *tokens = apr_table_get(r->headers_in, HEADER);

    if (tokens) {
        if (!r->prev && mac_key && strlen(tokens) <= TOKENS_MAX) {
            const char *valid = "";
            const char *token;

            while ((token = next_token(r->pool, &tokens)) != NULL) {
                valid = add_token(r->pool, valid, token);
            }
            apr_pool_userdata_setn(valid, TOKENS_KEY, NULL, r->pool);
        }
        apr_table_unset(r->headers_in, HEADER);
    }
    return DECLINED;
}

bool admission_self_is_guest(const request_rec *r, const admission_zone_t *zone)
{
    const char *tokens = tokens_of(r);
    const char *token;

    while ((token = next_token(r->pool, &tokens)) != NULL) {
        if (adm_view_is_running(admission_process_child(), zone->handle, token,
                                adm_now())) {
            return true;
        }
    }
    return false;
}
