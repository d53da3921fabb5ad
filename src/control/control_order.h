/* control_order.h - what an order says. */
#ifndef CONTROL_ORDER_H
#define CONTROL_ORDER_H

#include <httpd.h>

#include "core/adm.h"

typedef struct admission_order_t {
    const char *zone; /* its name */
    adm_override_t wanted;
} admission_order_t;

/**
 * Read the form that a POST carries: zone=NAME, and of limit=N|config,
 * queue=N|config and mode=open|pause|drain|config at least one.
 *
 * @param wrong  what is wrong with it, a sentence; NULL: nothing.
 * @return OK, or the status to answer with.
 */
int admission_order_read(request_rec *r, admission_order_t *order,
                         const char **wrong);

#endif
