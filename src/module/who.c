/* who.c - record which client and URL a ticket belongs to, for the status
 * pages.
 */
#include <apr_lib.h>
#include <apr_strings.h>
#include <http_core.h>
#include <scoreboard.h>

#include "visit.h"
#include "who.h"

#define DOTS "..."

static bool is_inside_character(const char *text, apr_size_t at)
{
    return ((unsigned char)text[at] & 0xc0) == 0x80;
}

static bool is_inside_escape(const char *text, apr_size_t at)
{
    return text[at - 1] == '%' || text[at - 2] == '%';
}

/* Copy a text and end it with dots if it is too long, without cutting a UTF-8
 * character or a percent escape. */
static void copy_text(char *to, apr_size_t room, const char *from)
{
    apr_size_t end = room - sizeof(DOTS);
    int i;

    if (strlen(from) < room) {
        apr_cpystrn(to, from, room);
        return;
    }
    for (i = 0;
         i < 4
         && (is_inside_character(from, end) || is_inside_escape(from, end));
         i++) {
        end--;
    }
    memcpy(to, from, end);
    memcpy(to + end, DOTS, sizeof(DOTS));
}

#define COPY(field, text) copy_text(who.field, sizeof(who.field), text)

void admission_who_note(request_rec *r, const adm_ticket_t *ticket)
{
    const request_rec *asked = admission_visit_root(r);
    adm_who_t who = { .uri = "" };

    if (!ap_extended_status) {
        return;
    }
    COPY(client, asked->useragent_ip);
    COPY(method, asked->method);
    COPY(host,
         asked->hostname ? asked->hostname : asked->server->server_hostname);
    COPY(uri, asked->unparsed_uri ? asked->unparsed_uri : "");
    adm_who_note(ticket, &who);
}
