/* law_share.c - divides a resource fairly among claims (max-min fairness). */
#include "law_share.h"

/* Grant in full the claims up to @a equal.
 * @return their number. */
static uint32_t satisfy(law_share_t *shares, uint32_t count, uint64_t equal,
                        uint64_t *left)
{
    uint32_t n, satisfied = 0;

    for (n = 0; n < count; n++) {
        if (shares[n].part == 0 && shares[n].wanted > 0
            && shares[n].wanted <= equal) {
            shares[n].part = shares[n].wanted;
            *left -= shares[n].wanted;
            satisfied++;
        }
    }
    return satisfied;
}

void law_share(law_share_t *shares, uint32_t count, uint64_t whole)
{
    uint64_t left = whole, equal = whole;
    uint32_t n, open = 0, satisfied;

    for (n = 0; n < count; n++) {
        shares[n].part = 0;
        open += shares[n].wanted > 0;
    }
    do {
        equal = open > 0 ? left / open : 0;
        satisfied = satisfy(shares, count, equal, &left);
        open -= satisfied;
    } while (satisfied > 0 && open > 0);
    for (n = 0; n < count; n++) {
        if (shares[n].part == 0 && shares[n].wanted > 0) {
            shares[n].part = equal;
        }
    }
}
