/* view_pieces.h - writes text to a client in large pieces.
 *
 * For outputs of many short words: a call of httpd for each word takes several
 * times as long as copying it.
 */
#ifndef VIEW_PIECES_H
#define VIEW_PIECES_H

#include <stdbool.h>

#include <httpd.h>

/** A variable on the stack: start with { .r = r }, finish with
 *  admission_pieces_end(). */
typedef struct admission_pieces_t {
    request_rec *r;
    bool is_lost; /* the client has disconnected: text is discarded */
    apr_size_t length;
    char bytes[8000];
} admission_pieces_t;

void admission_pieces_put(admission_pieces_t *pieces, const char *text,
                          apr_size_t length);

void admission_pieces_put_text(admission_pieces_t *pieces, const char *text);

/** Put a number with that many digits (0 to 9) behind the point: 1500 with 3
 *  digits is 1.500. */
void admission_pieces_put_number(admission_pieces_t *pieces, apr_int64_t number,
                                 int digits);

/** Write the rest. */
void admission_pieces_end(admission_pieces_t *pieces);

#endif
