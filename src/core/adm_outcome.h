/* adm_outcome.h - all possible outcomes of a request, one line each.
 * Included by adm.h, and so by all.
 *
 * The list generates the enum values, the counters of a zone, the words in
 * notes and labels, and the sentences in the log. A new outcome is a line here
 * and a row of the manual.
 */
#ifndef ADM_OUTCOME_H
#define ADM_OUTCOME_H

#include <stdbool.h>

/** What the caller does with a request. */
typedef enum adm_action_t {
    ADM_RUN,            /* with a permit */
    ADM_RUN_FREE,       /* without one */
    ADM_REJECT,         /* respond that the zone is full */
    ADM_DROP_CONNECTION /* drop the connection */
} adm_action_t;

/* value, name, action, whether it counts as rejected (a dry run counts what
 * would have been rejected), reason for the log */
/* clang-format off */
#define ADM_OUTCOME_LIST(row)                                                  \
    row(ADMITTED,   "admitted",   ADM_RUN,      false, NULL)                   \
    row(WAITED,     "queued",     ADM_RUN,      false, NULL)                   \
    row(DRY_QUEUED, "dry-queued", ADM_RUN,      false, NULL)                   \
    row(DRY_FULL,   "dry-full",   ADM_RUN,      true,  NULL)                   \
    row(DRY_LATE,   "dry-late",   ADM_RUN,      true,  NULL)                   \
    row(EXEMPT,     "exempt",     ADM_RUN_FREE, false, NULL)                   \
    row(UNLIMITED,  "unlimited",  ADM_RUN_FREE, false, NULL)                   \
    row(FULL,       "full",       ADM_REJECT,   true,  "the queue is full")    \
    row(LATE,       "late",       ADM_REJECT,   true,                          \
        "it would have had to wait too long")                                  \
    row(SHARE,      "share",      ADM_REJECT,   true,                          \
        "its key has no more slots in the queue")                              \
    row(TIMEOUT,    "timeout",    ADM_REJECT,   true,  "waited too long")      \
    row(RESERVE,    "reserve",    ADM_REJECT,   true,                          \
        "the last workers are reserved")                                       \
    row(PARKING,    "parking",    ADM_REJECT,   true,                          \
        "no parking capacity is left, raise AsyncRequestWorkerFactor or the "  \
        "limit of open files")                                                 \
    row(DRAIN,      "drain",      ADM_REJECT,   true,                          \
        "an administrator drains the zone")                                    \
    row(FLEET,      "fleet",      ADM_REJECT,   true,                          \
        "the lease of this server's share is over")                            \
    row(GONE,       "gone",       ADM_DROP_CONNECTION,  false, NULL)                   \
    row(STOPPED,    "stopped",    ADM_DROP_CONNECTION,  false, NULL)

typedef enum adm_outcome_t {
#define ADM_OUTCOME_VALUE(value, name, action, is_rejected, reason) ADM_##value,
    ADM_OUTCOME_LIST(ADM_OUTCOME_VALUE)
#undef ADM_OUTCOME_VALUE
    ADM_OUTCOMES,              /* number of outcomes */
    ADM_WAITING = ADM_OUTCOMES /* no outcome yet */
} adm_outcome_t;
/* clang-format on */

/** @return its name in notes, labels and fields. */
const char *adm_outcome_name(adm_outcome_t outcome);

/** @return what to do with the request. */
static inline adm_action_t adm_outcome_action(adm_outcome_t outcome)
{
#define ADM_OUTCOME_ACTION(value, name, action, is_rejected, reason) action,
    static const unsigned char actions[] = { ADM_OUTCOME_LIST(
        ADM_OUTCOME_ACTION) };
#undef ADM_OUTCOME_ACTION

    return (adm_action_t)actions[outcome];
}

/** @return the reason for the log; NULL if the request was not rejected. */
const char *adm_outcome_reason(adm_outcome_t outcome);

#endif
