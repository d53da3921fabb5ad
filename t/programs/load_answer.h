/* load_answer.h - an answer over HTTP/1.1 as it comes: its status, and its end.
 * Included by load.c. */
#ifndef LOAD_ANSWER_H
#define LOAD_ANSWER_H

#include <stddef.h>
#include <stdint.h>

#define MAX_HEAD 2048

enum { NO_ANSWER = 0 };

typedef struct answer_t {
    size_t head_size; /* as far as it has come; MAX_HEAD: all */
    char head[MAX_HEAD];
    int is_chunked, is_last_chunk;
    int64_t body_left; /* of the body, or of the chunk; -1: until the end */
    int64_t chunk;     /* its size, as far as it has come */
} answer_t;

/* Nothing has come. */
void answer_begin(answer_t *answer);

/* Whether anything has. */
int answer_has_begun(const answer_t *answer);

/* More has come. @return whether that was the end, but for an answer that ends with the
 * connection. */
int answer_take(answer_t *answer, const char *text, size_t size);

/* Whether something is missing if the connection ends now. */
int answer_is_cut(const answer_t *answer);

/* NO_ANSWER: it has not come that far. */
int answer_status(const answer_t *answer);

#endif
