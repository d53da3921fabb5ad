/* explain.h - the answer to ?explain=URL while it is collected. */
#ifndef EXPLAIN_H
#define EXPLAIN_H

#include <apr_network_io.h>
#include <apr_tables.h>

#include "module/conf.h"

typedef struct explain_t {
    request_rec *r; /* of ?explain */
    apr_pool_t *p;
    const char *path; /* of the URL, with its query */
    const char *method;
    const char *host; /* NULL: not given */
    server_rec *server;
    apr_sockaddr_t *client;    /* NULL: the client of the request */
    apr_array_header_t *facts; /* of fact_t */
    apr_array_header_t *notes; /* of const char *: notes on surprising facts */
} explain_t;

/** Add a note. @param format  as of apr_psprintf() */
void admission_explain_note(explain_t *e, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- explain_sections.c -------------------------------------------------- */

/** @return the section's limit, name, file and line. */
const char *admission_explain_name(const explain_t *e,
                                   const admission_section_t *section);

/** Add a note for each section that matches and does not decide, in httpd's
 *  order of merging.
 *  @param first  the request that was looked up
 *  @param last  the request after redirects inside httpd
 *  @param winner  the section that decides; NULL: none */
void admission_explain_sections(explain_t *e, const request_rec *first,
                                const request_rec *last,
                                const admission_section_t *winner);

#endif
