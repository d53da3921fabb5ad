/* control_form.h - read the form that overrides limits. */
#ifndef CONTROL_FORM_H
#define CONTROL_FORM_H

#include <httpd.h>

#include "core/adm.h"

typedef struct admission_form_t {
    const char *zone; /* the zone's name */
    adm_override_t wanted;
} admission_form_t;

/**
 * Read the form in the body of a POST request: zone=NAME and at least one of
 * limit=N|config, queue=N|config, mode=open|pause|drain|config.
 *
 * @param wrong  set to an error message for the client; NULL: the form is
 *               valid
 * @return OK, or an error status if the body cannot be read.
 */
int admission_form_read(request_rec *r, admission_form_t *form,
                        const char **wrong);

#endif
