/* view_pieces.c - writes text to a client in large pieces. */
#include <string.h>

#include <http_protocol.h>

#include "view_pieces.h"

static void write_out(admission_pieces_t *pieces, const char *text,
                      apr_size_t length)
{
    if (!pieces->is_lost && length > 0) {
        pieces->is_lost = ap_rwrite(text, (int)length, pieces->r) < 0;
    }
}

void admission_pieces_end(admission_pieces_t *pieces)
{
    write_out(pieces, pieces->bytes, pieces->length);
    pieces->length = 0;
}

void admission_pieces_put(admission_pieces_t *pieces, const char *text,
                          apr_size_t length)
{
    if (length > sizeof(pieces->bytes) - pieces->length) {
        admission_pieces_end(pieces);
    }
    if (length > sizeof(pieces->bytes)) {
        write_out(pieces, text, length);
        return;
    }
    memcpy(pieces->bytes + pieces->length, text, length);
    pieces->length += length;
}

void admission_pieces_put_text(admission_pieces_t *pieces, const char *text)
{
    admission_pieces_put(pieces, text, strlen(text));
}

void admission_pieces_put_number(admission_pieces_t *pieces, apr_int64_t number,
                                 int digits)
{
    apr_uint64_t rest = number < 0 ? -(apr_uint64_t)number
                                   : (apr_uint64_t)number;
    char text[32], *const end = text + sizeof(text), *begin = end;
    int written = 0;

    while (rest > 0 || written <= digits) {
        if (digits > 0 && written == digits) {
            *--begin = '.';
        }
        *--begin = (char)('0' + rest % 10);
        rest /= 10;
        written++;
    }
    if (number < 0) {
        *--begin = '-';
    }
    admission_pieces_put(pieces, begin, (apr_size_t)(end - begin));
}
