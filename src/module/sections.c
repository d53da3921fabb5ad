/* sections.c - the sections that set a limit, and their names. */
#include <httpd.h>
#include <apr_strings.h>
#include <http_core.h>

#include "sections.h"

/* ---- names --------------------------------------------------------------- */

static bool is_section(const ap_directive_t *directive, const char *name)
{
    return strcasecmp(directive->directive, name) == 0;
}

/* <LocationMatch x> is equivalent to <Location ~ x>. */
static bool is_match(const ap_directive_t *section)
{
    apr_size_t length = strlen(section->directive);

    return length > 5
           && strcasecmp(section->directive + length - 5, "Match") == 0;
}

/* @return the name of a section: "/cgi-bin/" for <Location "/cgi-bin/">, "~x"
 * for <Location ~ x>, with the section's type as a prefix unless it is a
 * <Location>. NULL for <If> and the like, which have no name. */
static const char *name_section(apr_pool_t *p, const ap_directive_t *section,
                                bool *is_regex)
{
    char *copy = apr_pstrdup(p, section->args ? section->args : "");
    char *bracket = strrchr(copy, '>');
    apr_size_t kind = strlen(section->directive + 1);
    const char *args = copy, *arg, *tilde = "";

    if (bracket && bracket[1] == '\0') {
        *bracket = '\0';
    }
    arg = ap_getword_conf(p, &args);
    if (is_match(section)) {
        kind -= 5;
        tilde = "~";
    }
    else if (strcmp(arg, "~") == 0) {
        arg = ap_getword_conf(p, &args);
        tilde = "~";
    }
    *is_regex |= *tilde != '\0';
    if (kind == 8 && strncasecmp(section->directive, "<Location", 9) == 0) {
        return apr_pstrcat(p, tilde, arg, NULL);
    }
    if (is_section(section, "<If") || is_section(section, "<ElseIf")
        || is_section(section, "<Else")) {
        return NULL;
    }
    return apr_psprintf(p, "%.*s:%s%s", (int)kind, section->directive + 1,
                        tilde, arg);
}

/* @return the names of the sections around a directive, outermost first; "*"
 * outside of sections; NULL if one of them has no name. <IfModule> and the like
 * are not in the tree. */
static const char *name_place(apr_pool_t *p, const ap_directive_t *directive,
                              bool *is_regex)
{
    const ap_directive_t *section;
    const char *name = NULL;

    for (section = directive->parent; section; section = section->parent) {
        const char *outer;

        if (is_section(section, "<VirtualHost")) {
            continue;
        }
        outer = name_section(p, section, is_regex);
        if (!outer) {
            return NULL;
        }
        name = name ? apr_pstrcat(p, outer, " ", name, NULL) : outer;
    }
    return name ? name : "*";
}

const char *admission_sections_server(apr_pool_t *p, const server_rec *s)
{
    if (s->server_hostname) {
        return s->server_hostname;
    }
    return s->is_virtual && s->addrs
               ? apr_psprintf(p, "%s:%d", s->addrs->virthost,
                              (int)s->addrs->host_port)
               : "main";
}

/* ---- records of the directives ------------------------------------------- */

/* Sections of the configuration being read, of admission_section_t *. */
static apr_array_header_t *sections;

static apr_array_header_t *flows; /* of admission_flows_note_t */

void admission_sections_begin(apr_pool_t *pconf)
{
    sections = apr_array_make(pconf, 8, sizeof(admission_section_t *));
    flows = apr_array_make(pconf, 8, sizeof(admission_flows_note_t));
}

const apr_array_header_t *admission_sections_all(void)
{
    return sections;
}

const apr_array_header_t *admission_sections_flows(void)
{
    return flows;
}

void admission_sections_note_flows(cmd_parms *cmd,
                                   const admission_dir_conf_t *conf)
{
    bool is_regex = false;
    const char *section = name_place(cmd->pool, cmd->directive, &is_regex);
    admission_flows_note_t note = {
        .server = cmd->server,
        .conf = conf,
        .is_of_server = section && strcmp(section, "*") == 0
    };

    APR_ARRAY_PUSH(flows, admission_flows_note_t) = note;
}

const char *admission_sections_place(const cmd_parms *cmd)
{
    return apr_psprintf(cmd->pool, "%s:%d", cmd->directive->filename,
                        cmd->directive->line_num);
}

admission_section_t *admission_sections_note(cmd_parms *cmd,
                                             admission_dir_conf_t *conf)
{
    admission_section_t *section = conf->section;

    if (!section) {
        section = apr_pcalloc(cmd->pool, sizeof(*section));
        section->max_concurrent.number = ADMISSION_NO_NUMBER;
        section->place = admission_sections_place(cmd);
        section->name = name_place(cmd->pool, cmd->directive,
                                   &section->is_regex);
        section->server = cmd->server;
        section->own = conf;
        conf->section = section;
        APR_ARRAY_PUSH(sections, admission_section_t *) = section;
    }
    return section;
}
