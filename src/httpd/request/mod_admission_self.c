/* mod_admission_self.c - requests that this server sends to itself.
 *
 * A request that holds a permit and waits for an answer of the same zone would wait
 * for itself. mod_proxy's requests to one of our own addresses carry a token of each
 * ticket that their sender holds, and those that it came with itself, and how many
 * requests are between it and the client's:
 *
 *   Admission-Ticket: hops=N/MAC KIND-TOKEN/MAC KIND-TOKEN/MAC
 *
 * The permit moves to where the work is: the request that mod_proxy sends takes it
 * over, and who sent it only passes the answer on. That one may end first, when
 * its client leaves, and the work goes on with its permit.
 *
 * The key of the MAC is known to processes of this httpd only, and a token is
 * good while its ticket holds its permit. Every request loses the header before
 * other modules see it.
 *
 * Each of these requests holds a worker that the reserve does not know. So there
 * is an end to them: mod_proxy may lead in a circle.
 */
#include <httpd.h>
#include <apr_siphash.h>
#include <apr_strings.h>
#include <apr_uri.h>
#include <http_log.h>
#include <mod_proxy.h>

#include "request/mod_admission_backend.h"
#include "request/mod_admission_include.h"
#include "request/mod_admission_self.h"
#include "request/mod_admission_visit.h"
#include "server/mod_admission_own.h"
#include "server/mod_admission_process.h"

APLOG_USE_MODULE(admission);

#define HEADER "Admission-Ticket"
#define KEY_KEY "mod_admission-key" /* over restarts */
/* In the pool of the client's request. */
#define TICKETS_KEY "admission-tickets"
#define TOKENS_MAX 1024             /* characters in one header */
#define WORDS_MAX (TOKENS_MAX + 64) /* with the hops */
#define HOPS "hops="
#define KIND_MOVES "m" /* the permit, with the request */
#define KIND_STAYS "s"
#define MAC_LENGTH (2 * APR_SIPHASH_DSIZE)

/* Private, in the parent before it forks; the same over restarts. */
static const unsigned char *mac_key;

static void log_no_key(server_rec *s, apr_status_t rv)
{
    ap_log_error(APLOG_MARK, APLOG_ERR, rv, s, ADMLOGNO(0127)
                 "no random bytes for a key, requests that this server sends "
                 "to itself are not recognized");
}

bool admission_self_is_possible(void)
{
    return ap_find_linked_module("mod_proxy.c") != NULL
           || ap_retained_data_get(KEY_KEY) != NULL;
}

int admission_self_post_config(apr_pool_t *pconf, apr_pool_t *plog,
                               apr_pool_t *ptemp, server_rec *s)
{
    unsigned char *retained = ap_retained_data_get(KEY_KEY);
    apr_status_t rv;

    mac_key = NULL;
    if (!admission_self_is_possible()) {
        return OK;
    }
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

/* @return the next word of ours in a header; NULL: there is none. Moves @a text
 * behind it. */
static const char *next_word(apr_pool_t *p, const char **text)
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

/* What a request came with. */
typedef struct tickets_t {
    const char *tokens; /* with their MACs */
    int hops;
} tickets_t;

static tickets_t tickets_of(const request_rec *r)
{
    void *tickets = NULL;

    apr_pool_userdata_get(&tickets, TICKETS_KEY, admission_visit_root(r)->pool);
    return tickets ? *(tickets_t *)tickets : (tickets_t){ .tokens = "" };
}

/* ---- sent ---------------------------------------------------------------- */

static bool leads_to_self(const request_rec *r)
{
    const conn_rec *c = r->connection->master ? r->connection->master
                                              : r->connection;
    const char *backend = admission_backend_url(r);
    apr_uri_t uri;

    return backend && admission_own_url(r->pool, backend, c->local_ip, &uri);
}

static const char *add_word(apr_pool_t *p, const char *words, const char *word)
{
    const char *longer = apr_pstrcat(p, words, *words ? " " : "", word, "/",
                                     mac_of(p, word), NULL);

    return strlen(longer) <= TOKENS_MAX ? longer : words;
}

static const char *add_hop(apr_pool_t *p, const tickets_t *tickets)
{
    const char *hops = apr_psprintf(p, HOPS "%d", tickets->hops + 1);

    return apr_pstrcat(p, add_word(p, "", hops), " ", tickets->tokens, NULL);
}

/* @return whether the sender, or a page that it is a part of, may start programs
 * with this permit while mod_proxy's request runs, or afterwards. */
static bool is_still_needed(const request_rec *r,
                            const admission_visit_t *visit)
{
    bool is_part = false;

    for (; r; r = admission_visit_parent(r)) {
        const admission_request_t *known = admission_visit_request(r);

        if (admission_include_may_exec((request_rec *)r)
            || (is_part && known && known->visit == visit)) {
            return true;
        }
        is_part |= r->main != NULL;
    }
    return false;
}

/* @return what a request is to carry that is sent for this one; NULL: nothing. */
static const char *words_for_backend(const request_rec *r)
{
    const request_rec *first = admission_visit_root(r);
    admission_visit_t *visit = admission_visit_first(r->connection);
    tickets_t tickets = tickets_of(r);
    char token[ADM_TOKEN_LENGTH];

    if (!mac_key || (!visit && !*tickets.tokens) || !leads_to_self(r)) {
        return NULL;
    }
    for (; visit; visit = visit->next) {
        if (visit->root == first && atomic_load(&visit->ticket.held)) {
            adm_program_token(&visit->ticket, token);
            tickets.tokens = add_word(r->pool, tickets.tokens,
                                      apr_pstrcat(r->pool,
                                                  is_still_needed(r, visit)
                                                      ? KIND_STAYS
                                                      : KIND_MOVES,
                                                  token, NULL));
        }
    }
    return *tickets.tokens ? add_hop(r->pool, &tickets) : NULL;
}

int admission_self_proxy_fixups(request_rec *r)
{
    const char *words = words_for_backend(r);

    if (words) {
        /* A copy that mod_proxy has made for what it sends. */
        apr_table_setn(r->headers_in, HEADER, words);
    }
    return words ? OK : DECLINED;
}

bool admission_self_begin_http2(request_rec *r)
{
    const char *words = admission_backend_speaks_http2(r) ? words_for_backend(r)
                                                          : NULL;

    if (words) {
        apr_table_setn(r->headers_in, HEADER, words);
    }
    return words != NULL;
}

void admission_self_end_http2(request_rec *r)
{
    apr_table_unset(r->headers_in, HEADER);
}

/* ---- received ------------------------------------------------------------ */

static tickets_t *read_tickets(apr_pool_t *p, const char *words)
{
    tickets_t *tickets = apr_palloc(p, sizeof(*tickets));
    const char *word;

    *tickets = (tickets_t){ .tokens = "" };
    while ((word = next_word(p, &words)) != NULL) {
        if (strncmp(word, HOPS, strlen(HOPS)) == 0) {
            tickets->hops = (int)strtol(word + strlen(HOPS), NULL, 10);
        }
        else {
            tickets->tokens = add_word(p, tickets->tokens, word);
        }
    }
    return tickets;
}

int admission_self_post_read_request(request_rec *r)
{
    const char *words = apr_table_get(r->headers_in, HEADER);

    if (words) {
        if (!r->prev && mac_key && strlen(words) <= WORDS_MAX) {
            apr_pool_userdata_setn(read_tickets(r->pool, words), TICKETS_KEY,
                                   NULL, r->pool);
        }
        apr_table_unset(r->headers_in, HEADER);
    }
    return DECLINED;
}

admission_self_t admission_self_claim(const request_rec *r,
                                      const admission_zone_t *zone,
                                      adm_ticket_t *ticket)
{
    tickets_t tickets = tickets_of(r);
    admission_self_t claim = ADMISSION_SELF_STRANGER;
    const char *token;

    if (tickets.hops >= ADMISSION_SELF_HOPS_MAX) {
        return ADMISSION_SELF_ENDLESS;
    }
    while (claim != ADMISSION_SELF_HEIR
           && (token = next_word(r->pool, &tickets.tokens)) != NULL) {
        adm_inherit_t rv = adm_inherit(admission_process_child(), zone->handle,
                                       token + 1, adm_now(),
                                       *token == *KIND_MOVES ? ticket : NULL);

        if (rv != ADM_INHERIT_NONE) {
            claim = rv == ADM_INHERIT_MOVED ? ADMISSION_SELF_HEIR
                                            : ADMISSION_SELF_PART;
        }
    }
    return claim;
}
