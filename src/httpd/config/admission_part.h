/* admission_part.h - what a capability adds to the module.
 * Included by the file of each capability that has its admission_part_t, and by files that
 * walk over them.
 *
 * A capability is a folder of src and a row of parts.h; adm_part.h is about its records in
 * shared memory. Its directives are a macro in the list of directives, because httpd reads
 * that list before it calls the module; what they set is a member of the configuration
 * record. No other file outside of its folder names it.
 */
#ifndef ADMISSION_PART_H
#define ADMISSION_PART_H

#include <httpd.h>

#include "adm_part.h"

struct admission_field_t;

/** The constant of a capability is called admission_part_NAME. */
typedef struct admission_part_t {
    void (*register_hooks)(apr_pool_t *p);
    const struct admission_field_t *server_fields; /* a row without a name ends them */
} admission_part_t;

#define ADMISSION_PART_DECLARE(name, NAME) \
    extern const admission_part_t admission_part_##name;
ADMISSION_PARTS(ADMISSION_PART_DECLARE)

/** All capabilities of this build, by their number. */
#define ADMISSION_PART_POINTER(name, NAME) &admission_part_##name,
static const admission_part_t *const admission_parts[ADM_PARTS + 1] = {
    ADMISSION_PARTS(ADMISSION_PART_POINTER) NULL
};

#endif
