/* part.h - the interface between a capability and the module.
 *
 * Included by each file that defines an admission_part_t, and by files that
 * iterate over all of them.
 *
 * A capability is a folder of src and a row of parts.h; adm_part.h describes
 * its records in shared memory. Its directives are a macro in the table of
 * directives, because httpd reads that table before it calls the module. Its
 * settings are a member of the configuration structs. No other file outside of
 * its folder names it.
 */
#ifndef MODULE_PART_H
#define MODULE_PART_H

#include <stdbool.h>

#include <httpd.h>
#include <apr_file_io.h>

#include "core/adm_part.h"

struct agent_duty_t;
struct admission_dir_conf_t;
struct admission_facts_t;
struct admission_view_t;
struct admission_visit_t;
struct admission_zone_t;

/** A capability's duty in the agent. */
typedef struct admission_part_agent_t {
    const struct agent_duty_t *duty; /* NULL: no duty */
    /** Called in the parent at each configuration load. @return the duty's
     *  argument, allocated from @a p; NULL: none. */
    void *(*setup)(apr_pool_t *p, server_rec *s);
    /** Called in the agent, which still has the parent's privileges: open the
     *  file that only the agent writes. NULL: no file. */
    void (*open)(apr_pool_t *p, server_rec *s, void *setup);
} admission_part_agent_t;

/** One capability. Its constant is named admission_part_NAME. */
typedef struct admission_part_t {
    /** NULL: the capability has no hook. */
    void (*register_hooks)(apr_pool_t *p);

    /** Append to a zone's line in the output of -D DUMP_ADMISSION. NULL:
     *  nothing. */
    void (*describe)(apr_file_t *out, const struct admission_dir_conf_t *conf);

    /* Steps of a request, in this order. NULL: no such step. */

    /** Called before the request enters its zone. It holds no permit.
     *  @return OK; SUSPENDED: @a again is called later, and starts over; or an
     *  error status. */
    int (*before)(request_rec *r, const struct admission_dir_conf_t *conf,
                  int (*again)(request_rec *r));
    /** Called before the handlers run with the permit of @a visit.
     *  @return the argument of end() and rest(); NULL: neither is called. At
     *  most one capability returns one. */
    void *(*begin)(request_rec *r, struct admission_visit_t *visit);
    /** Called when the handlers have returned @a rv; the permit is still held.
     *  @return whether the rest of the response can be sent without the
     *  permit. */
    bool (*end)(void *begun, int rv);
    /** Send the rest of the response. The permit has been released, or is held
     *  by a program that still runs.
     *  @return what the handler hook returns: OK or SUSPENDED. */
    int (*rest)(request_rec *r, void *begun);

    admission_part_agent_t agent;

    /* Outputs. NULL: none. */

    /** Add facts about a zone, or the server, with the macros of
     *  view_fields.h: always the same fields. */
    void (*facts_of_zone)(const struct admission_view_t *view,
                          struct admission_facts_t *facts);
    void (*facts_of_server)(struct admission_facts_t *facts);
    /** Write sentences about a zone to its page; if @a view is NULL, about the
     *  server. */
    void (*write_sentences)(request_rec *r, apr_pool_t *p,
                            const struct admission_view_t *view);
    /** Write additional members of a zone's JSON object, each after a comma. */
    void (*write_json)(request_rec *r, apr_pool_t *p,
                       const struct admission_zone_t *zone);
} admission_part_t;

#define ADMISSION_PART_DECLARE(name, NAME) \
    extern const admission_part_t admission_part_##name;
ADMISSION_PARTS(ADMISSION_PART_DECLARE)

#define ADMISSION_PART_ONE(name, NAME) +1
enum { ADMISSION_PARTS_NUMBER = 0 ADMISSION_PARTS(ADMISSION_PART_ONE) };

/** All capabilities of this build, in the order of parts.h. */
#define ADMISSION_PART_POINTER(name, NAME) &admission_part_##name,
static const admission_part_t
    *const admission_parts[ADMISSION_PARTS_NUMBER + 1] = { ADMISSION_PARTS(
        ADMISSION_PART_POINTER) NULL };

#endif
