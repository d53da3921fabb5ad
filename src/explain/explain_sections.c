/* explain_sections.c - sections that match a URL and do not decide its limit. */
#include <apr_fnmatch.h>
#include <apr_lib.h>
#include <apr_strings.h>
#include <http_core.h>

#include "explain.h"

const char *admission_explain_name(const explain_t *e,
                                   const admission_section_t *section)
{
    const char *limit =
        section->max_concurrent.number == ADMISSION_NO_NUMBER
            ? apr_pstrcat(e->p, "AdmissionZone ", section->zone_name, NULL)
            : apr_pstrcat(e->p, "MaxConcurrent ",
                          admission_limit_name(e->p, &section->max_concurrent),
                          NULL);

    return !section->name || strcmp(section->name, "*") == 0
               ? apr_psprintf(e->p, "%s (%s)", limit, section->place)
               : apr_psprintf(e->p, "%s of %s (%s)", limit, section->name,
                              section->place);
}

/* @return whether httpd applies the section to @a text, a path, file name or URL. */
static bool is_match(const core_dir_config *section, const char *text,
                     bool is_path)
{
    size_t length = section->d ? strlen(section->d) : 0;

    if (section->r) {
        return ap_regexec(section->r, text, 0, NULL, 0) == 0;
    }
    if (!section->d) {
        return false;
    }
    if (section->d_is_fnmatch) {
        return apr_fnmatch(section->d, text, APR_FNM_PATHNAME) == APR_SUCCESS;
    }
    if (!is_path) {
        return strcmp(section->d, text) == 0;
    }
    return strncmp(section->d, text, length) == 0
           && (length == 0 || section->d[length - 1] == '/'
               || text[length] == '/' || text[length] == '\0');
}

/* Add a note if the section sets a limit by itself, but another one decides. */
static void note_inactive_section(explain_t *e, const ap_conf_vector_t *section,
                                  const admission_section_t *winner,
                                  const char *why)
{
    const admission_dir_conf_t *conf = ap_get_module_config(section,
                                                            &admission_module);

    if (conf && conf->section && conf->section != winner
        && conf->section->own == conf) {
        admission_explain_note(e, "%s does not apply: %s",
                               admission_explain_name(e, conf->section), why);
    }
}

static void note_inactive_sections(explain_t *e,
                                   const apr_array_header_t *sections,
                                   const char *text, bool is_path,
                                   const admission_section_t *winner,
                                   const char *why)
{
    int i;

    for (i = 0; sections && text && i < sections->nelts; i++) {
        ap_conf_vector_t *section = APR_ARRAY_IDX(sections, i,
                                                  ap_conf_vector_t *);

        if (is_match(ap_get_core_module_config(section), text, is_path)) {
            note_inactive_section(e, section, winner, why);
        }
    }
}

void admission_explain_sections(explain_t *e, const request_rec *first,
                                const request_rec *last,
                                const admission_section_t *winner)
{
    const core_server_config *server = ap_get_core_module_config(
        e->server->module_config);
    const core_dir_config *defaults = ap_get_core_module_config(
        e->server->lookup_defaults);
    const char *later = winner ? apr_psprintf(e->p,
                                              "%s is merged later and decides",
                                              admission_explain_name(e, winner))
                               : "a section that is merged later decides";
    const char *url = first->parsed_uri.path;

    note_inactive_section(e, e->server->lookup_defaults, winner, later);
    note_inactive_sections(e, server->sec_dir, last->filename, true, winner,
                           later);
    note_inactive_sections(e, defaults->sec_file,
                           last->filename
                               ? apr_filepath_name_get(last->filename)
                               : NULL,
                           false, winner, later);
    note_inactive_sections(e, server->sec_url, url, true, winner, later);
    if (url && strcmp(url, last->uri) != 0) {
        note_inactive_sections(
            e, server->sec_url, last->uri, true, winner,
            apr_psprintf(
                e->p,
                "it belongs to %s, to which httpd redirects; the requested URL "
                "decides",
                last->uri));
    }
}
