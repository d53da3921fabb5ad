/* law_share.c - divides a resource fairly among claims (max-min fairness). */
#include "law_share.h"

void law_share(law_share_t *shares, uint32_t count, uint64_t whole)
{
    uint64_t left = whole, equal;
    uint32_t n, open = 0, before;

    for (n = 0; n < count; n++) {
        shares[n].part = 0;
        open += shares[n].wanted > 0;
    }
    /* Grant the claims below an equal part. That raises the part of the others. */
    do {
        before = open;
        equal = open > 0 ? left / open : 0;
        for (n = 0; n < count; n++) {
            if (shares[n].part == 0 && shares[n].wanted > 0
                && shares[n].wanted <= equal) {
                shares[n].part = shares[n].wanted;
                left -= shares[n].wanted;
                open--;
            }
        }
    } while (open < before && open > 0);
    for (n = 0; n < count; n++) {
        if (shares[n].part == 0 && shares[n].wanted > 0) {
            shares[n].part = equal;
        }
    }
}
