/* fleet.c - limits across servers, as a capability: its hooks, messages and outputs. */
#include <httpd.h>
#include <ap_listen.h>
#include <apr_strings.h>
#include <http_config.h>
#include <http_log.h>
#include <http_protocol.h>

#include "module/part.h"
#include "module/process.h"
#include "module/zones.h"
#include "fleet_conf.h"
#include "fleet_duty.h"
#include "fleet_predecessor.h"
#include "view/view_fields.h"
#include "view/view_outputs.h"
#include "view/view_page.h"
#include "view/view_text.h"

APLOG_USE_MODULE(admission);

/* Leaves room for ":" and a port. */
#define NAME_LENGTH (LAW_FLEET_NAME - 7)

static server_rec *main_server;
static fleet_conf_t terms;

/* What happens when a lease has expired. */
static const char *fallback_text(void)
{
    switch (terms.fallback) {
    case ADM_FALLBACK_REJECT:
        return "this server rejects requests (fallback=reject)";
    case ADM_FALLBACK_OPEN:
        return "this server uses its own MaxConcurrent (fallback=open)";
    default:
        return "this server keeps its last share, or rejects requests if it "
               "has none (fallback=keep)";
    }
}

static void log_zone_event(const fleet_news_t *news)
{
    switch (news->event) {
    case FLEET_EVENT_REFUSED:
        ap_log_error(
            APLOG_MARK, APLOG_WARNING, 0, main_server, ADMLOGNO(0152)
            "zone %s: the engine %s rejects the zone: %s; its share remains "
            "valid until its lease expires, then %s; if another program has "
            "written the key adm:{%s}, delete the key",
            news->zone, terms.engine->shown(terms.engine_address), news->why,
            fallback_text(), news->zone);
        break;
    case FLEET_EVENT_LAPSED:
        ap_log_error(APLOG_MARK, APLOG_WARNING, 0, main_server, ADMLOGNO(0142)
                     "zone %s: the engine has not renewed this server's share "
                     "before its lease expired: %s; the last warning about the "
                     "engine has the reason",
                     news->zone, fallback_text());
        break;
    case FLEET_EVENT_LEASED:
        ap_log_error(APLOG_MARK, APLOG_NOTICE, 0, main_server, ADMLOGNO(0143)
                     "zone %s: this server has a share again", news->zone);
        break;
    case FLEET_EVENT_DOUBLED:
        ap_log_error(
            APLOG_MARK, APLOG_WARNING, 0, main_server, ADMLOGNO(0144)
            "zone %s: another server, such as a clone of this machine, "
            "uses this server's id; until the running requests have finished, "
            "both together can exceed their share; this server takes another "
            "id; if this is repeated, stop httpd on one of the two machines, "
            "delete its admission.fleet and start httpd",
            news->zone);
        break;
    case FLEET_EVENT_LATE:
        ap_log_error(
            APLOG_MARK, APLOG_WARNING, 0, main_server, ADMLOGNO(0146)
            "zone %s: a report of this server reached the engine late, "
            "or a clock has jumped; the engine ignored the report and "
            "extended all leases; if this is repeated, check the clock of the "
            "engine",
            news->zone);
        break;
    case FLEET_EVENT_LESS:
        ap_log_error(APLOG_MARK, APLOG_WARNING, 0, main_server, ADMLOGNO(0147)
                     "zone %s: MaxConcurrent is %u here and %u on another "
                     "server; the lowest value applies; if this is repeated, "
                     "set the same limit on all servers",
                     news->zone, news->limit, news->number);
        break;
    default:
        ap_log_error(APLOG_MARK, APLOG_NOTICE, 0, main_server, ADMLOGNO(0148)
                     "zone %s: servers hold %u permits, the limit is %u; no "
                     "more are granted until enough requests have finished",
                     news->zone, news->number, news->limit);
        break;
    }
}

static void log_event(const fleet_news_t *news)
{
    const char *address = terms.engine->shown(terms.engine_address);

    if (news->event == FLEET_EVENT_CONNECTED) {
        ap_log_error(APLOG_MARK, APLOG_INFO, 0, main_server, ADMLOGNO(0140)
                     "connected to the engine %s%s", address,
                     news->number ? ", which was restarted and recovers the "
                                    "shares from the servers"
                                  : "");
    }
    else if (news->event == FLEET_EVENT_LOST) {
        ap_log_error(
            APLOG_MARK, APLOG_WARNING, 0, main_server, ADMLOGNO(0141)
            "no connection to the engine %s: %s; shares remain valid until "
            "their leases expire, then %s",
            address, news->why, fallback_text());
    }
    else {
        log_zone_event(news);
    }
}

/* @return the name that administrators see: the host, and the port because one
 * host can run several httpds. */
static const char *name_of_server(apr_pool_t *p)
{
    char host[APRMAXHOSTLEN + 1];
    const ap_listen_rec *listener = ap_listeners;
    int port = listener && listener->bind_addr ? listener->bind_addr->port : 0;

    if (apr_gethostname(host, sizeof(host), p) != APR_SUCCESS) {
        return "unknown";
    }
    return port ? apr_psprintf(p, "%.*s:%d", NAME_LENGTH, host, port)
                : apr_pstrdup(p, host);
}

/* Collect the zones whose limit is shared. @return NULL if there is none. */
static void *setup(apr_pool_t *p, server_rec *s)
{
    const admission_zone_t *zone;
    apr_array_header_t *found = apr_array_make(p, 4, sizeof(agent_share_t));
    fleet_setup_t *fleet = apr_pcalloc(p, sizeof(*fleet));
    apr_status_t rv;

    main_server = s;
    terms = admission_fleet(s);
    for (zone = admission_zones(); zone; zone = zone->next) {
        if (zone->is_shared && zone->handle.idx != 0) {
            APR_ARRAY_PUSH(found, agent_share_t) = (agent_share_t){
                .name = zone->name,
                .handle = zone->handle,
                .terms = { .limit = (uint32_t)zone->limit,
                           .lease_usec = terms.lease,
                           .hold_usec = terms.hold },
                .longest_usec = s->timeout
            };
        }
    }
    if (found->nelts == 0) {
        return NULL;
    }
    rv = adm_agent_open_event(admission_process_segment());
    if (rv != APR_SUCCESS) {
        ap_log_error(
            APLOG_MARK, APLOG_ERR, rv, s, ADMLOGNO(0145)
            "cannot open the agent's sockets, so this server gets no share of "
            "limits across servers: %s; raise the limit on open files and "
            "restart httpd",
            fallback_text());
        return NULL;
    }
    fleet->provider = terms.engine;
    fleet->address = terms.engine_address;
    fleet->self = admission_predecessor_self(p);
    fleet->name = name_of_server(p);
    fleet->zones = (agent_share_t *)found->elts;
    fleet->count = (uint32_t)found->nelts;
    fleet->id_fd = -1;
    fleet->log_event = log_event;
    return fleet;
}

static void open_id(apr_pool_t *p, server_rec *s, void *data)
{
    fleet_setup_t *fleet = data;

    fleet->id_fd = admission_predecessor_open(p);
}

/* ---- configuration ---------------------------------------------------------- */

static int check_config(apr_pool_t *pconf, apr_pool_t *plog, apr_pool_t *ptemp,
                        server_rec *s)
{
    const admission_section_t *section;

    for (section = admission_zones_sections(); section;
         section = section->next) {
        if (section->is_shared && section->zone && !admission_fleet(s).engine) {
            ap_log_error(
                APLOG_MARK, APLOG_STARTUP | APLOG_EMERG, 0, s, ADMLOGNO(0007)
                "AdmissionZone: '%s fleet' in %s needs AdmissionEngine, "
                "which names the engine that distributes the limit",
                section->zone_name, section->place);
            return HTTP_INTERNAL_SERVER_ERROR;
        }
    }
    return OK;
}

/* Set which zones share a limit. Find the predecessor, the server that ran here
 * before, and open this server's FIFO: each process and program of this server
 * keeps it open, so that the next server knows when all of them have ended. */
static int post_config(apr_pool_t *pconf, apr_pool_t *plog, apr_pool_t *ptemp,
                       server_rec *s)
{
    adm_segment_t *segment = admission_process_segment();
    const admission_zone_t *zone = segment ? admission_zones() : NULL;
    bool has_shares = false;

    for (; zone; zone = zone->next) {
        if (zone->handle.idx != 0) {
            has_shares |= zone->is_shared;
            adm_segment_share(segment, zone->handle,
                              zone->is_shared ? admission_fleet(s).fallback
                                              : ADM_FALLBACK_NONE);
        }
    }
    if (has_shares) {
        /* Before mod_cgid forks its daemon, which must inherit the FIFO. */
        admission_predecessor_find(ptemp, s, segment);
        adm_program_leave_open(admission_predecessor_self(ptemp)->fd);
    }
    return OK;
}

static void register_hooks(apr_pool_t *p)
{
    /* After the module's own hooks, which settle and configure the zones. */
    ap_hook_check_config(check_config, NULL, NULL, APR_HOOK_MIDDLE + 1);
    ap_hook_post_config(post_config, NULL, NULL, APR_HOOK_REALLY_FIRST + 1);
}

/* ---- outputs ---------------------------------------------------------------- */

static fleet_t share(const admission_view_t *view)
{
    fleet_t shown = { .state = FLEET_OFF };

    if (view->zone->is_shared) {
        fleet_view(admission_process_segment(), view->zone->handle, &shown);
    }
    return shown;
}

static fleet_engine_t engine(void)
{
    fleet_engine_t shown;

    fleet_engine_view(admission_process_segment(), &shown);
    return shown;
}

static void facts_of_zone(const admission_view_t *view,
                          admission_facts_t *facts)
{
    fleet_t shown = share(view);

    facts->group = "Limit across several servers";
    FACT_WORD(FleetState,
              "State of this server's share of a limit for several servers.",
              shown.state, fleet_state_name(shown.state));
    facts->group = view->zone->is_shared ? facts->group : NULL;
    FACT(FleetLimit, GAUGE,
         "Limit across all servers: the lowest that a server states.",
         shown.reply.limit);
    FACT(FleetShare, GAUGE, "Part of it that this server may use.",
         shown.share);
    FACT(FleetGranted, GAUGE,
         "Share plus permits that this server has yet to return.",
         shown.reply.granted);
    FACT(FleetServers, GAUGE, "Servers that share the limit.",
         shown.reply.servers);
    FACT(FleetReserved, GAUGE, "Permits granted to all servers together.",
         shown.reply.reserved);
    FACT(FleetWanted, GAUGE, "Permits that all servers together can use.",
         shown.reply.wanted);
    FACT(FleetLeaseMs, GAUGE_MSEC, "Remaining lease of this server's share.",
         shown.lease_usec / ADM_USEC_PER_MSEC);
    FACT(FleetLearningMs, GAUGE_MSEC,
         "Remaining recovery period of the engine.",
         shown.learning_usec / ADM_USEC_PER_MSEC);
}

static void facts_of_server(admission_facts_t *facts)
{
    fleet_engine_t shown = engine();

    FACT_WORD(EngineState, "State of the connection to the engine (Redis).",
              shown.state, fleet_engine_state_name(shown.state));
    FACT(EngineConnects, COUNTER, "Connections to the engine.",
         shown.counts[FLEET_ENGINE_CONNECT]);
    FACT(EngineErrors, COUNTER,
         "Connections to the engine that ended or failed.",
         shown.counts[FLEET_ENGINE_ERROR]);
    FACT(EngineSyncs, COUNTER, "Replies of the engine.",
         shown.counts[FLEET_ENGINE_SYNC]);
    FACT(EnginePushes, COUNTER, "Messages of the engine that were not replies.",
         shown.counts[FLEET_ENGINE_PUSH]);
    FACT(EngineLate, COUNTER,
         "Replies that report a late sync or a clock jump.",
         shown.counts[FLEET_ENGINE_LATE]);
    FACT(EngineStale, COUNTER,
         "Replies that refuse a sync older than the last one.",
         shown.counts[FLEET_ENGINE_STALE]);
    FACT(EngineRoundTripMeanUs, GAUGE_USEC, "Mean round trip to the engine.",
         shown.mean_usec);
    FACT(EngineRoundTripMaxUs, GAUGE_USEC, "Longest round trip to the engine.",
         shown.max_usec);
}

static void write_zone_sentences(request_rec *r, apr_pool_t *p,
                                 const admission_view_t *view)
{
    fleet_t fleet = share(view);

    if (fleet.state == FLEET_OFF) {
        return;
    }
    if (fleet.state == FLEET_FALLBACK) {
        admission_page_words_write(
            r, "bad",
            "Limit for several servers: the lease of this server's share has "
            "expired: %s. See the error log.",
            fallback_text());
        return;
    }
    admission_page_words_write(
        r, "",
        "Limit for %u servers: %u. This server may use %u of them "
        "for %s; all servers together hold %u and need %u.%s",
        fleet.reply.servers, fleet.reply.limit, fleet.share,
        admission_page_words_time(p, fleet.lease_usec), fleet.reply.reserved,
        fleet.reply.wanted,
        fleet.state == FLEET_LEARNING
            ? apr_psprintf(p,
                           " The engine is recovering: for %s it grants only "
                           "permits that servers already hold.",
                           admission_page_words_time(p, fleet.learning_usec))
            : "");
}

static void write_sentences(request_rec *r, apr_pool_t *p,
                            const admission_view_t *view)
{
    if (view) {
        write_zone_sentences(r, p, view);
    }
    else if (engine().state == FLEET_ENGINE_LOST) {
        admission_page_words_write(
            r, "bad",
            "Not connected to the fleet engine. This server keeps its shares "
            "until their leases expire; then %s. See the error log.",
            fallback_text());
    }
}

/* Write the servers that share the limit, from the engine's last list. */
static void write_json(request_rec *r, apr_pool_t *p,
                       const admission_zone_t *zone)
{
    law_fleet_who_t who;
    adm_usec_t age;
    uint32_t i;

    if (!zone->is_shared
        || !fleet_engine_servers(admission_process_segment(), zone->handle,
                                 &who, &age)) {
        return;
    }
    ap_rprintf(r, ",\"sharers\":{\"ageMs\":%" APR_INT64_T_FMT ",\"servers\":[",
               (apr_int64_t)(age / ADM_USEC_PER_MSEC));
    for (i = 0; i < who.count; i++) {
        const law_fleet_server_t *server = &who.servers[i];

        ap_rputs(i ? ",{\"server\":" : "{\"server\":", r);
        admission_json_string(r, admission_text_utf8(p, server->name));
        ap_rprintf(r,
                   ",\"granted\":%u,\"share\":%u,\"wanted\":%u,"
                   "\"silentMs\":%u}",
                   server->granted, server->target, server->wanted,
                   server->silent_msec);
    }
    ap_rputs("]}", r);
}

const admission_part_t admission_part_fleet = {
    .register_hooks = register_hooks,
    .agent = { .duty = &fleet_duty, .setup = setup, .open = open_id },
    .facts_of_zone = facts_of_zone,
    .facts_of_server = facts_of_server,
    .write_sentences = write_sentences,
    .write_json = write_json
};
