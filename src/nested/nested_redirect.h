/* nested_redirect.h - enter the zone of the target of an internal redirect. */
#ifndef NESTED_REDIRECT_H
#define NESTED_REDIRECT_H

#include "module/countable.h"
#include "module/visit.h"

/** @return whether a request with this configuration might be redirected inside
 *  httpd. A few instructions; admission_redirect_target() then looks up the
 *  target. */
static inline bool
admission_redirect_is_possible(const request_rec *r,
                               const admission_dir_conf_t *conf)
{
    return conf->actions || admission_countable_is_rewritten(r);
}

/** The target of an internal redirect. */
typedef struct admission_target_t {
    admission_dir_conf_t conf; /* configuration of the target's URL */
    char *filename;
    const char *handler;
} admission_target_t;

/**
 * Look up where a client's request is about to be redirected inside httpd.
 * Maps and authenticates the target, but runs no handler.
 *
 * @param target  filled in; allocated from the request's pool
 * @return whether the target counts in a zone. False if the request is not a
 *         client's own request, or is not redirected.
 */
bool admission_redirect_target(request_rec *r, admission_target_t *target);

/** Derive the handler of a request that was only looked up, as
 *  ap_invoke_handler() does. */
void admission_redirect_set_handler(request_rec *r);

/** Follow the redirects of this request by lookups. @return the last target, a
 *  subrequest that the caller must destroy; @a r if it is not redirected; NULL
 *  if a target is denied, or there are too many. */
request_rec *admission_redirect_follow(request_rec *r);

/**
 * Run the redirect of a request that entered the zone on behalf of its target.
 * If the target never takes the decision and the permit over, the permit is
 * released here.
 *
 * @param redirect  runs the remaining handlers
 * @return what @a redirect returns.
 */
int admission_redirect_run(request_rec *r, int (*redirect)(request_rec *r));

/**
 * Take over the decision and the permit of the request that was redirected
 * here. If the decision is for another zone, its permit is released.
 *
 * @param zone  the zone of @a r
 * @return whether the decision was taken over; false: there is none, or it is
 *         for another zone.
 */
bool admission_redirect_take_over(request_rec *r, const admission_zone_t *zone);

/**
 * Release the permits, in other zones, of programs that this request does not
 * need: a program redirected its client to this URL, or failed and this is the
 * error page, or was an earlier part of the page. Leave the permit to a program
 * that still runs. Called before the request is sent, or enters its zone: no
 * request waits for one permit while it holds another. Waits a few milliseconds
 * for each program.
 *
 * @param zone  the request's zone, whose permit it shares; NULL: it does not
 *              count
 */
void admission_redirect_leave_programs(request_rec *r,
                                       const admission_zone_t *zone);

#endif
