/* mod_admission_http2.c - streams, which run on threads of mod_http2. */
#include <httpd.h>
#include <stdatomic.h>

#include "request/mod_admission_http2.h"
#include "server/mod_admission_capacity.h"

static atomic_int visits;
static int visits_max;

void admission_http2_child_init(apr_pool_t *pchild, server_rec *s)
{
    (void)pchild;
    visits_max = admission_capacity_http2_room(s);
}

int admission_http2_enter(admission_request_t *known)
{
    if (atomic_fetch_add(&visits, 1) >= visits_max) {
        atomic_fetch_sub(&visits, 1);
        return 0;
    }
    known->counts_for_http2 = 1;
    return 1;
}

void admission_http2_leave(admission_request_t *known)
{
    if (known->counts_for_http2) {
        known->counts_for_http2 = 0;
        atomic_fetch_sub(&visits, 1);
    }
}
