/* part.h - what a capability adds to the module.
 * Included by the file of each capability that has its admission_part_t, and by files that
 * walk over them.
 *
 * A capability is a folder of src and a row of parts.h; adm_part.h is about its records in
 * shared memory. Its directives are a macro in the list of directives, because httpd reads
 * that list before it calls the module; what they set is a member of the configuration
 * record. No other file outside of its folder names it.
 */
#ifndef MODULE_PART_H
#define MODULE_PART_H

#include <stdbool.h>

#include <httpd.h>
#include <apr_file_io.h>

#include "core/adm_part.h"

struct admission_dir_conf_t;
struct admission_field_t;
struct admission_visit_t;

/** The constant of a capability is called admission_part_NAME. */
typedef struct admission_part_t {
    /** NULL: the capability has no hook. */
    void (*register_hooks)(apr_pool_t *p);

    /** Add to the line of a zone in the output of -D DUMP_ADMISSION. NULL: nothing. */
    void (*describe)(apr_file_t *out, const struct admission_dir_conf_t *conf);

    /* Steps of a request, in this order. NULL: nothing to do. */

    /** The request is about to ask its zone, and holds no permit.
     *  @return OK; SUSPENDED: @a again is called later, from the beginning; or the status
     *  of an error. */
    int (*before)(request_rec *r, const struct admission_dir_conf_t *conf,
                  int (*again)(request_rec *r));
    /** The handlers are about to run with the permit of @a visit.
     *  @return what end() and rest() are given; NULL: neither is called. */
    void *(*begin)(request_rec *r, struct admission_visit_t *visit);
    /** The handlers have returned @a rv; the permit is still held.
     *  @return whether a part of the response is left that needs no permit. One capability
     *  at most returns true for a request. */
    bool (*end)(void *begun, int rv);
    /** The permit is returned, or waits for the end of a program. Send that part.
     *  @return what the handler hook returns: OK or SUSPENDED. */
    int (*rest)(request_rec *r, void *begun);

    const struct admission_field_t
        *server_fields; /* a row without a name ends them */
} admission_part_t;

#define ADMISSION_PART_DECLARE(name, NAME) \
    extern const admission_part_t admission_part_##name;
ADMISSION_PARTS(ADMISSION_PART_DECLARE)

#define ADMISSION_PART_ONE(name, NAME) +1
enum { ADMISSION_PARTS_NUMBER = 0 ADMISSION_PARTS(ADMISSION_PART_ONE) };

/** All capabilities of this build, by their number. */
#define ADMISSION_PART_POINTER(name, NAME) &admission_part_##name,
static const admission_part_t
    *const admission_parts[ADMISSION_PARTS_NUMBER + 1] = { ADMISSION_PARTS(
        ADMISSION_PART_POINTER) NULL };

#endif
