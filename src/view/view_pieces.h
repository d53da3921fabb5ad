/* view_pieces.h - text that is written to a client in large pieces.
 *
 * For outputs of many short words: a call of httpd's for each of them takes several
 * times as long as the word itself.
 */
#ifndef VIEW_PIECES_H
#define VIEW_PIECES_H

#include <stdbool.h>

#include <httpd.h>

/** Lives on the stack: { .r = r } begins, admission_pieces_end() ends. */
typedef struct admission_pieces_t {
    request_rec *r;
    bool is_lost; /* the client has left: what is put is thrown away */
    apr_size_t length;
    char bytes[8000];
} admission_pieces_t;

void admission_pieces_put(admission_pieces_t *pieces, const char *text,
                          apr_size_t length);

void admission_pieces_put_text(admission_pieces_t *pieces, const char *text);

/** Put a number with so many digits (0 to 9) behind the point: 1500 with 3 of them
 *  is 1.500. */
void admission_pieces_put_number(admission_pieces_t *pieces, apr_int64_t number,
                                 int digits);

/** Write what has not been written yet. */
void admission_pieces_end(admission_pieces_t *pieces);

#endif
