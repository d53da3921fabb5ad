/* sections.h - the sections that set a limit, and their names. */
#ifndef MODULE_SECTIONS_H
#define MODULE_SECTIONS_H

#include "conf.h"

/** Discard the sections of the previous configuration. */
void admission_sections_begin(apr_pool_t *pconf);

/** @return the sections with MaxConcurrent or AdmissionZone, in the order of
 *  the files; of admission_section_t *. */
const apr_array_header_t *admission_sections_all(void);

/** @return the server's name, as used in the names of its zones. */
const char *admission_sections_server(apr_pool_t *p, const server_rec *s);

/** @return file:line of the directive. */
const char *admission_sections_place(const cmd_parms *cmd);

/** Record the section of a directive that defines its zone. @return the
 *  section's record, for the directive to fill in. */
admission_section_t *admission_sections_note(cmd_parms *cmd,
                                             admission_dir_conf_t *conf);

/** A section with AdmissionFair, AdmissionPriority or AdmissionCost. */
typedef struct admission_flows_note_t {
    const server_rec *server;
    const admission_dir_conf_t *conf;
    bool is_of_server; /* outside of any section: inherited by all sections */
} admission_flows_note_t;

/** @return these records, in the order of the files; of
 *  admission_flows_note_t. */
const apr_array_header_t *admission_sections_flows(void);

/** Record the section of such a directive. */
void admission_sections_note_flows(cmd_parms *cmd,
                                   const admission_dir_conf_t *conf);

#endif
