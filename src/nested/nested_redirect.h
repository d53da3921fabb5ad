/* nested_redirect.h - redirects inside httpd: ask where they lead. */
#ifndef NESTED_REDIRECT_H
#define NESTED_REDIRECT_H

#include "module/counts.h"
#include "module/tell.h"
#include "module/visit.h"

/** @return whether a request with this configuration may be about to be redirected
 *  inside httpd. Costs a few instructions. */
static inline bool
admission_detour_is_possible(const request_rec *r,
                             const admission_dir_conf_t *conf)
{
    return conf->actions || admission_counts_redirect(r);
}

/** Where a request is about to be redirected to. */
typedef struct admission_target_t {
    admission_dir_conf_t conf; /* what applies there */
    char *filename;
    const char *handler;
} admission_target_t;

/**
 * Look up where a client's request is about to be redirected inside httpd.
 * Maps and authenticates the target, and runs nothing of it.
 *
 * @param target  filled in
 * @return whether it counts there. Not if the request does not only redirect.
 */
bool admission_detour_target(request_rec *r, admission_target_t *target);

/** Set the handler of a request that has been looked up, as httpd does before it runs
 *  one. */
void admission_detour_set_handler(request_rec *r);

/** @return the last of a few redirects inside httpd that this request would go through,
 *  looked up: a subrequest, for the caller to destroy; @a r: it is not redirected; NULL:
 *  a target is refused, or there are too many. */
request_rec *admission_detour_follow(request_rec *r);

/**
 * Run the redirect of a request that has asked for its target. The target takes
 * over the verdict and what the request holds; if it never does, that is given
 * back here.
 *
 * @param redirect  the handlers; returns what a handler returns, and so does
 *                  this function
 */
int admission_detour_run(request_rec *r, const admission_verdict_t *verdict,
                         int (*redirect)(request_rec *r));

/**
 * Take over what was decided about this request before it was redirected
 * here, and the permit. If that was for another zone, the permit is given back.
 *
 * @param verdict  its zone is the request's; filled in
 * @return whether it was decided.
 */
bool admission_detour_take_over(request_rec *r, admission_verdict_t *verdict);

/**
 * A program may answer with another URL of this server. Once it has ended, give
 * back the permit that it ran with, before its target asks for one of another
 * zone: nobody waits with a permit in hand then.
 *
 * Waits a moment for the program's end.
 */
void admission_detour_leave_ended(request_rec *r);

#endif
