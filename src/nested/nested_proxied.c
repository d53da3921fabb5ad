/* nested_proxied.c - requests that mod_proxy sends to this server.
 *
 * A request with a permit that is proxied to the same zone would wait for
 * itself. So would one that is proxied to a local filter (a cache, a firewall)
 * which sends it on to this server. Therefore a request that mod_proxy sends to
 * this machine has a header: the number of hops so far, and the name of each
 * ticket that the proxying request holds or has received.
 *
 *   Admission-Ticket: hops=N/MAC KIND NAME/MAC KIND NAME/MAC   (KIND: one letter)
 *
 * The permit moves to the request that does the work: the receiver takes it
 * over, and the proxying request only passes the response on. If the client
 * then disconnects, the receiver continues with the permit.
 *
 * Only processes of this httpd know the key of the MAC, and a name is valid
 * while its ticket holds its permit. Local programs see the header, so it
 * contains no secret. It is removed from every request before other modules see
 * it.
 *
 * Each of these requests occupies a worker that the reserve does not count, and
 * mod_proxy can be configured as a loop. So the number of hops is limited.
 */
#include <httpd.h>
#include <apr_siphash.h>
#include <apr_strings.h>
#include <mod_proxy.h>

#include "module/backend.h"
#include "module/countable.h"
#include "nested_proxied.h"
#include "module/visit.h"
#include "nested_local.h"
#include "module/process.h"

#define HEADER "Admission-Ticket"
#define PROXY_KEY "mod_admission-proxy" /* set across restarts */
/* Userdata of the pool of the client's request. */
#define TICKETS_KEY "admission-tickets"
#define TOKENS_MAX 1024             /* length of the tickets in a header */
#define WORDS_MAX (TOKENS_MAX + 64) /* length of the header */
#define HOPS "hops="
#define KIND_MOVES "m" /* the permit moves with the request */
#define KIND_STAYS "s" /* the sender keeps the permit */
#define MAC_LENGTH (2 * APR_SIPHASH_DSIZE)

_Static_assert(ADM_SECRET_LENGTH == APR_SIPHASH_KSIZE,
               "the segment's secret is the key of the MAC");

bool admission_proxied_is_possible(void)
{
    if (ap_find_linked_module("mod_proxy.c")
        && !ap_retained_data_get(PROXY_KEY)) {
        ap_retained_data_create(PROXY_KEY, 1);
    }
    return ap_retained_data_get(PROXY_KEY) != NULL;
}

/* ---- words --------------------------------------------------------------- */

/* MAC of a word of the header, in hex. The header's name is included in the
 * message, because the segment's secret also hashes keys. */
static const char *mac_of(apr_pool_t *p, const char *word)
{
    const char *text = apr_pstrcat(p, HEADER ": ", word, NULL);
    unsigned char mac[APR_SIPHASH_DSIZE];
    char *shown = apr_palloc(p, MAC_LENGTH + 1);

    apr_siphash24_auth(mac, text, strlen(text),
                       adm_segment_secret(admission_process_segment()));
    ap_bin2hex(mac, sizeof(mac), shown);
    return shown;
}

/* Compare in constant time. */
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

/* Cut the MAC off a word. @return whether it is valid. */
static bool cut_valid_mac(apr_pool_t *p, char *word)
{
    char *mac = strchr(word, '/');

    if (!mac) {
        return false;
    }
    *mac++ = '\0';
    return is_same_mac(mac, mac_of(p, word));
}

/* The tickets that a request was received with. */
typedef struct tickets_t {
    const char *tokens; /* words, each with its MAC */
    int hops;
} tickets_t;

static tickets_t tickets_of(const request_rec *r)
{
    void *tickets = NULL;

    apr_pool_userdata_get(&tickets, TICKETS_KEY, admission_visit_root(r)->pool);
    return tickets ? *(tickets_t *)tickets : (tickets_t){ .tokens = "" };
}

/* ---- sent ---------------------------------------------------------------- */

static const conn_rec *connection_of(const request_rec *r)
{
    return r->connection->master ? r->connection->master : r->connection;
}

/* Identifies the virtual host: the address of its server_rec, which is the same
 * in all children of a configuration. Never 0. */
static uint32_t host_of(const request_rec *r)
{
    return (uint32_t)((uintptr_t)r->server / sizeof(void *)) | 1;
}

/* @return whether mod_proxy sends the request to a program on this machine, or
 * to this server. */
static bool stays_here(const request_rec *r)
{
    const char *backend = admission_backend_url(r);

    return backend
           && admission_local_url(r->pool, backend, connection_of(r)->local_ip);
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

/* @return whether the sender, or the page that includes it, might run programs
 * with this permit during or after mod_proxy's request. */
static bool sender_needs_permit(const request_rec *r,
                                const admission_visit_t *visit)
{
    bool is_part = false;

    for (; r; r = admission_visit_parent(r)) {
        const admission_request_t *state = admission_visit_request(r);

        if (admission_countable_include((request_rec *)r)
            || (is_part && state && state->visit == visit)) {
            return true;
        }
        is_part |= r->main != NULL;
    }
    return false;
}

static bool holds_permit(const admission_visit_t *visit,
                         const request_rec *first)
{
    return visit->root == first && adm_ticket_holds(&visit->ticket);
}

static bool holds_any(const request_rec *r)
{
    const request_rec *first = admission_visit_root(r);
    const admission_visit_t *visit = admission_visit_first(r->connection);

    for (; visit && !holds_permit(visit, first); visit = visit->next) {
    }
    return visit != NULL;
}

/* @return the word of a visit's ticket, without its MAC. */
static const char *word_of(const request_rec *r, const admission_visit_t *visit)
{
    char name[ADM_TICKET_NAME_LENGTH];

    adm_ticket_name(&visit->ticket, name);
    return apr_pstrcat(r->pool,
                       sender_needs_permit(r, visit) ? KIND_STAYS : KIND_MOVES,
                       name, NULL);
}

/* @return the header of a request that is sent on behalf of @a r; NULL: it
 * needs none. */
static const char *header_for_backend(const request_rec *r)
{
    const request_rec *first = admission_visit_root(r);
    admission_visit_t *visit = admission_visit_first(r->connection);
    tickets_t tickets = tickets_of(r);

    if ((!*tickets.tokens && !holds_any(r)) || !stays_here(r)) {
        return NULL;
    }
    for (; visit; visit = visit->next) {
        if (holds_permit(visit, first)) {
            adm_who_note_sent(&visit->ticket, host_of(r));
            tickets.tokens = add_word(r->pool, tickets.tokens,
                                      word_of(r, visit));
        }
    }
    return *tickets.tokens ? add_hop(r->pool, &tickets) : NULL;
}

/* Set the header, or remove a foreign one, which a client can send as a trailer
 * of its body. @return whether it is set. */
static bool set_header(request_rec *r)
{
    const char *words = header_for_backend(r);

    if (words) {
        apr_table_setn(r->headers_in, HEADER, words);
    }
    else {
        apr_table_unset(r->headers_in, HEADER);
    }
    return words != NULL;
}

/* Here headers_in is mod_proxy's copy, from which it makes its request. */
int admission_proxied_fixups(request_rec *r)
{
    return set_header(r) ? OK : DECLINED;
}

bool admission_proxied_begin_http2(request_rec *r)
{
    return admission_backend_speaks_http2(r) && set_header(r);
}

void admission_proxied_end_http2(request_rec *r)
{
    apr_table_unset(r->headers_in, HEADER);
}

/* ---- received ------------------------------------------------------------ */

/* @param ignores set to whether the header has a word with an invalid MAC, or
 * no ticket */
static tickets_t *read_tickets(apr_pool_t *p, const char *words, bool *ignores)
{
    tickets_t *tickets = apr_palloc(p, sizeof(*tickets));

    *tickets = (tickets_t){ .tokens = "" };
    *ignores = false;
    while (*words) {
        char *word = ap_getword_white(p, &words);

        if (!cut_valid_mac(p, word)) {
            *ignores = true;
        }
        else if (strncmp(word, HOPS, strlen(HOPS)) == 0) {
            tickets->hops = (int)strtol(word + strlen(HOPS), NULL, 10);
        }
        else {
            tickets->tokens = add_word(p, tickets->tokens, word);
        }
    }
    *ignores |= !*tickets->tokens;
    return tickets;
}

int admission_proxied_post_read_request(request_rec *r)
{
    const char *words = apr_table_get(r->headers_in, HEADER);
    adm_segment_t *segment = admission_process_segment();
    bool ignores = true;

    if (!words) {
        return DECLINED;
    }
    if (segment && !r->prev && strlen(words) <= WORDS_MAX) {
        apr_pool_userdata_setn(read_tickets(r->pool, words, &ignores),
                               TICKETS_KEY, NULL, r->pool);
    }
    if (segment && ignores) {
        adm_segment_count_ignored(segment);
    }
    apr_table_unset(r->headers_in, HEADER);
    return DECLINED;
}

admission_proxied_t admission_proxied_claim(const request_rec *r,
                                            const admission_zone_t *zone,
                                            adm_ticket_t *ticket)
{
    tickets_t tickets = tickets_of(r);
    admission_proxied_t claim = ADMISSION_PROXIED_UNRELATED;
    bool has_ended = false;

    if (tickets.hops >= ADMISSION_PROXIED_HOPS_MAX) {
        return ADMISSION_PROXIED_ENDLESS;
    }
    while (claim != ADMISSION_PROXIED_SUCCESSOR && *tickets.tokens) {
        const char *token = ap_getword_white(r->pool, &tickets.tokens);
        adm_successor_t rv = adm_successor_take(admission_process_child(),
                                                zone->handle, token + 1,
                                                adm_now(),
                                                *token == *KIND_MOVES ? ticket
                                                                      : NULL);

        if (rv == ADM_SUCCESSOR_MOVED || rv == ADM_SUCCESSOR_KEPT) {
            claim = rv == ADM_SUCCESSOR_MOVED ? ADMISSION_PROXIED_SUCCESSOR
                                              : ADMISSION_PROXIED_PART;
        }
        has_ended |= rv == ADM_SUCCESSOR_ENDED;
    }
    if (claim == ADMISSION_PROXIED_UNRELATED && has_ended) {
        adm_segment_count_ignored(admission_process_segment());
    }
    return claim;
}

/* ---- a filter that drops the header -------------------------------------- */

bool admission_proxied_is_awaited(const request_rec *r,
                                  const admission_zone_t *zone)
{
    return admission_local_is_loopback(connection_of(r)->client_addr)
           && adm_who_all_sent(admission_process_child(), zone->handle,
                               host_of(r), adm_now());
}
