/* conf_tree.h - what the configuration files say, in all directives. */
#ifndef MODULE_CONF_TREE_H
#define MODULE_CONF_TREE_H

#include "conf.h"

/** @return the directive behind this one, in the order of the files: a section,
 *  then what is in it. NULL: it is the last. Begin with ap_conftree. */
const ap_directive_t *admission_said_next(const ap_directive_t *directive);

/** @return whether the directive has this name. */
bool admission_said_is(const ap_directive_t *directive, const char *name);

/** @return its first argument; "" where there is none. */
const char *admission_said_argument(apr_pool_t *p,
                                    const ap_directive_t *directive);

/** @return whether a directive of this name stands anywhere, with this word among
 *  its arguments; NULL: any. */
bool admission_said_anywhere(apr_pool_t *p, const char *name, const char *word);

/** @return a number that another module's directive says outside of sections,
 *  the last one; @a otherwise where none does. */
double admission_said_number(const char *directive, double otherwise);

/** What the zones of the configuration can come to, before they are made. */
typedef struct admission_said_zones_t {
    int limits; /* how often MaxConcurrent is said */
    long limit; /* the highest one */
    long queue; /* the longest one, or the default where it may hold */
} admission_said_zones_t;

/** @return what the directives of zones say, wherever they stand. */
admission_said_zones_t admission_said_zones(void);

/** Put a directive of another module at the end of the configuration, outside of
 *  sections. Before the configuration is processed. */
void admission_said_add(apr_pool_t *pconf, const char *directive, long number);

/** Log a warning of each directive of ours that has no effect: handlers that
 *  nothing gives, a queue without a limit, a target beyond its timeout. */
void admission_said_warn(apr_pool_t *p, server_rec *s);

#endif
