/* adm_outcome.c - the names and log texts of outcomes.
 * Called by the module and by adm_ticket.
 */
#include "adm_outcome.h"

#include <stddef.h>

typedef struct outcome_t {
    const char *name;
    const char *reason;
} outcome_t;

static const outcome_t outcomes[] = {
#define ADM_OUTCOME_ROW(value, name, action, is_rejected, reason) \
    { name, reason },
    ADM_OUTCOME_LIST(ADM_OUTCOME_ROW)
#undef ADM_OUTCOME_ROW
};

const char *adm_outcome_name(adm_outcome_t outcome)
{
    return outcomes[outcome].name;
}

const char *adm_outcome_reason(adm_outcome_t outcome)
{
    return outcomes[outcome].reason;
}
