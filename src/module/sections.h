/* sections.h - which sections set a limit, and their names. */
#ifndef MODULE_SECTIONS_H
#define MODULE_SECTIONS_H

#include "conf.h"

/** Forget those of the configuration before. */
void admission_sections_begin(apr_pool_t *pconf);

/** The sections that say MaxConcurrent or AdmissionZone, in the order of the
 *  files; of admission_section_t *. */
const apr_array_header_t *admission_sections_all(void);

/** @return the server's name in the names of its zones. */
const char *admission_sections_server(apr_pool_t *p, const server_rec *s);

/** @return file:line of the directive. */
const char *admission_sections_place(const cmd_parms *cmd);

/** Note where a directive that concerns the zone itself stands. @return what is
 *  known of this section's zone, for the directive to fill in. */
admission_section_t *admission_sections_note(cmd_parms *cmd,
                                             admission_dir_conf_t *conf);

/** A place where AdmissionFair, AdmissionPriority or AdmissionCost says something. */
typedef struct admission_flows_note_t {
    const server_rec *server;
    const admission_dir_conf_t *conf;
    bool is_of_server; /* in no section: inherited by all that are in it */
} admission_flows_note_t;

/** @return these, in the order of the files. */
const apr_array_header_t *admission_sections_flows(void);

/** Note one of them. */
void admission_sections_note_flows(cmd_parms *cmd,
                                   const admission_dir_conf_t *conf);

#endif
