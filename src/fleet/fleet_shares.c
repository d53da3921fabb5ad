/* fleet_shares.c - limits over servers: what the agent is told of them, and
 * what it says.
 */
#include <httpd.h>
#include <ap_listen.h>
#include <apr_strings.h>
#include <http_config.h>
#include <http_log.h>

#include "fleet_conf.h"
#include "module/zones.h"
#include "module/process.h"
#include "fleet_shares.h"

APLOG_USE_MODULE(admission);

/* Of the host's name, in front of a port. */
#define NAME_LENGTH (LAW_FLEET_NAME - 7)

static server_rec *server;
static admission_fleet_t terms;

/* Of the connection. */
static void tell_of_engine(const agent_fleet_news_t *news)
{
    const char *address = terms.provider->shown(terms.address);

    if (news->event == AGENT_FLEET_CONNECTED) {
        ap_log_error(APLOG_MARK, APLOG_INFO, 0, server, ADMLOGNO(0140)
                     "connected with the engine %s%s", address,
                     news->number ? ", which was restarted and learns who has "
                                    "what"
                                  : "");
        return;
    }
    ap_log_error(APLOG_MARK, APLOG_WARNING, 0, server, ADMLOGNO(0141)
                 "no connection with the engine %s: %s; shares hold as "
                 "long as their leases, then fallback=%s does",
                 address, news->why,
                 admission_fleet_fallback_name(terms.fallback));
}

/* What does not fit between servers. */
static void tell_of_servers(const agent_fleet_news_t *news)
{
    const char *zone = news->zone;

    switch (news->event) {
    case AGENT_FLEET_DOUBLED:
        ap_log_error(APLOG_MARK, APLOG_WARNING, 0, server, ADMLOGNO(0144)
                     "zone %s: the engine knows a later word of this server: "
                     "does another one have its memory, as a clone? This one "
                     "takes another id",
                     zone);
        break;
    case AGENT_FLEET_LATE:
        ap_log_error(APLOG_MARK, APLOG_WARNING, 0, server, ADMLOGNO(0146)
                     "zone %s: what this server said came late to the engine, "
                     "or a clock has jumped: the engine believed nothing, and "
                     "lets no lease end",
                     zone);
        break;
    case AGENT_FLEET_LESS:
        ap_log_error(APLOG_MARK, APLOG_WARNING, 0, server, ADMLOGNO(0147)
                     "zone %s: MaxConcurrent is %u here and %u on another "
                     "server; the least counts",
                     zone, news->limit, news->number);
        break;
    default:
        ap_log_error(APLOG_MARK, APLOG_NOTICE, 0, server, ADMLOGNO(0148)
                     "zone %s: servers have %u of %u permits until requests "
                     "end",
                     zone, news->number, news->limit);
        break;
    }
}

static void tell(void *data, const agent_fleet_news_t *news)
{
    switch (news->event) {
    case AGENT_FLEET_CONNECTED:
    case AGENT_FLEET_LOST:
        tell_of_engine(news);
        break;
    case AGENT_FLEET_REFUSED:
        ap_log_error(APLOG_MARK, APLOG_WARNING, 0, server, ADMLOGNO(0152)
                     "zone %s: the engine %s refuses it: %s; its share holds "
                     "as long as its lease, then fallback=%s does",
                     news->zone, terms.provider->shown(terms.address),
                     news->why, admission_fleet_fallback_name(terms.fallback));
        break;
    case AGENT_FLEET_LAPSED:
        ap_log_error(APLOG_MARK, APLOG_WARNING, 0, server, ADMLOGNO(0142)
                     "zone %s: the lease of this server's share is over, "
                     "fallback=%s holds",
                     news->zone, admission_fleet_fallback_name(terms.fallback));
        break;
    case AGENT_FLEET_LEASED:
        ap_log_error(APLOG_MARK, APLOG_NOTICE, 0, server, ADMLOGNO(0143)
                     "zone %s: this server has a share again", news->zone);
        break;
    default:
        tell_of_servers(news);
        break;
    }
}

/* What people call this server: its host, and a port where it has several. */
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

static agent_share_t describe(const admission_zone_t *zone, server_rec *s)
{
    return (agent_share_t){ .name = zone->name,
                            .handle = zone->handle,
                            .terms = { .limit = (uint32_t)zone->limit,
                                       .lease_usec = terms.lease,
                                       .hold_usec = terms.hold },
                            .longest_usec = s->timeout };
}

agent_fleet_t *admission_shares_setup(apr_pool_t *p, server_rec *s)
{
    const apr_array_header_t *zones = admission_zones();
    apr_array_header_t *found = apr_array_make(p, 4, sizeof(agent_share_t));
    agent_fleet_t *fleet = apr_pcalloc(p, sizeof(*fleet));
    apr_status_t rv;
    int i;

    server = s;
    terms = admission_fleet(s);
    for (i = 0; i < zones->nelts; i++) {
        const admission_zone_t *zone = APR_ARRAY_IDX(zones, i,
                                                     admission_zone_t *);

        if (zone->is_fleet && zone->handle.idx != 0) {
            APR_ARRAY_PUSH(found, agent_share_t) = describe(zone, s);
        }
    }
    if (found->nelts == 0) {
        return NULL;
    }
    rv = adm_agent_open_pipe(admission_process_segment());
    if (rv != APR_SUCCESS) {
        ap_log_error(APLOG_MARK, APLOG_ERR, rv, s, ADMLOGNO(0145)
                     "there is no pipe for the agent: limits over servers have "
                     "no engine, fallback=%s holds",
                     admission_fleet_fallback_name(terms.fallback));
        return NULL;
    }
    fleet->provider = terms.provider;
    fleet->address = terms.address;
    fleet->name = name_of_server(p);
    fleet->zones = (agent_share_t *)found->elts;
    fleet->count = (uint32_t)found->nelts;
    fleet->id_fd = -1;
    fleet->tell = tell;
    return fleet;
}
