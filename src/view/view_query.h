/* view_query.h - query strings of the status page. */
#ifndef VIEW_QUERY_H
#define VIEW_QUERY_H

#include <httpd.h>

/** A parameter that a query can have. */
typedef struct admission_parameter_t {
    const char *key;
    const char **value; /* is set to the decoded value */
    const char *error;  /* if the parameter is given twice, or its encoding is
                         * invalid. NULL: neither matters, and it is not
                         * decoded */
} admission_parameter_t;

/**
 * Read a query string.
 *
 * @param parameters  known parameters; the key of the last row is NULL
 * @param output  is set to a key that is not known; "" if there is none
 * @return an error message; NULL if the query is valid.
 */
const char *admission_query_read(apr_pool_t *p, const char *args,
                                 const admission_parameter_t *parameters,
                                 const char **output);

/* ---- outputs of capabilities ---------------------------------------------- */

/** Group of the providers that are outputs: a query with a key of this name is
 *  a request for the output. Its version is "0". */
#define ADMISSION_OUTPUT_GROUP "admission_output"

typedef struct admission_output_t {
    /** Respond to a GET request, whose handler has been checked, by a child
     *  that uses the segment. @return what a handler returns. */
    int (*write)(request_rec *r);
} admission_output_t;

/** @return the output that a key of the query names; NULL: none. */
const admission_output_t *admission_query_output(apr_pool_t *p,
                                                 const char *args);

#endif
