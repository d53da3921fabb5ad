/* conf_tree.h - search the tree of all directives in the configuration files.
 */
#ifndef MODULE_CONF_TREE_H
#define MODULE_CONF_TREE_H

#include "conf.h"

/** Iterate over all directives in the order of the files, a section before its
 *  contents. Start with ap_conftree. @return the next directive; NULL at the
 *  end. */
const ap_directive_t *admission_conf_tree_next(const ap_directive_t *directive);

/** @return whether the directive has this name. */
bool admission_conf_tree_is(const ap_directive_t *directive, const char *name);

/** @return the directive's first argument; "" if it has none. */
const char *admission_conf_tree_argument(apr_pool_t *p,
                                         const ap_directive_t *directive);

/** @return the name of a section: "/cgi-bin/" for <Location "/cgi-bin/">, "~x"
 *  for <Location ~ x>, with the section's type as a prefix unless it is a
 *  <Location>. NULL for <If> and the like, which have no name. */
const char *admission_conf_tree_section(apr_pool_t *p,
                                        const ap_directive_t *section);

/** @return whether the configuration has a directive of this name anywhere,
 *  with @a word among its arguments unless NULL. */
bool admission_conf_tree_anywhere(apr_pool_t *p, const char *name,
                                  const char *word);

/** @return the number that the last directive of this name outside of sections
 *  sets; @a otherwise if there is none. */
double admission_conf_tree_number(const char *directive, double otherwise);

/** Upper bounds of the zones, taken from the directives before zones exist. */
typedef struct admission_conf_tree_zones_t {
    int limits; /* number of MaxConcurrent directives */
    long limit; /* highest limit */
    long queue; /* longest queue, including the default if it might apply */
} admission_conf_tree_zones_t;

/** @return the upper bounds, from directives anywhere in the configuration. */
admission_conf_tree_zones_t admission_conf_tree_zones(void);

/** Append a directive of another module to the configuration, outside of
 *  sections. Call before the configuration is processed. */
void admission_conf_tree_add(apr_pool_t *pconf, const char *directive,
                             long number);
#endif
