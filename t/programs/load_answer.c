/* load_answer.c - an answer over HTTP/1.1 as it comes. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* strcasestr */
#endif
#include "load_answer.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LENGTH "\r\nContent-Length:"

void answer_begin(answer_t *answer)
{
    answer->head_size = 0;
    answer->head[0] = '\0';
    answer->chunk = 0;
    answer->is_last_chunk = 0;
}

int answer_has_begun(const answer_t *answer)
{
    return answer->head_size > 0;
}

int answer_status(const answer_t *answer)
{
    int status = NO_ANSWER;

    sscanf(answer->head, "HTTP/1.1 %3d", &status);
    return status < 100 ? NO_ANSWER : status;
}

/* What the head says of the body. */
static void read_head(answer_t *answer)
{
    const char *length = strcasestr(answer->head, LENGTH);
    int status = answer_status(answer);

    answer->is_chunked = strcasestr(answer->head, "\r\nTransfer-Encoding: chunked") != NULL;
    if (answer->is_chunked || status == 204 || status == 304) {
        answer->body_left = 0;
    }
    else {
        answer->body_left = length ? atoll(length + strlen(LENGTH)) : -1;
    }
}

/* @return how much of the text belongs to the head. */
static size_t take_head(answer_t *answer, const char *text, size_t size)
{
    size_t before = answer->head_size;
    size_t room = MAX_HEAD - 1 - before;
    char *end;

    memcpy(answer->head + before, text, size < room ? size : room);
    answer->head_size += size < room ? size : room;
    answer->head[answer->head_size] = '\0';
    end = strstr(answer->head, "\r\n\r\n");
    if (!end) {
        return size;
    }
    end[2] = '\0';
    read_head(answer);
    answer->head_size = MAX_HEAD;
    return (size_t)(end + 4 - answer->head) - before;
}

static int hex_value(char digit)
{
    return digit <= '9' ? digit - '0' : (digit | 0x20) - 'a' + 10;
}

/* @return whether that was the end of the chunks. */
static int take_chunks(answer_t *answer, const char *text, size_t size)
{
    for (; size > 0; text++, size--) {
        if (answer->body_left > 0) {
            if (--answer->body_left == 0 && answer->is_last_chunk) {
                return 1;
            }
        }
        else if (*text == '\n') {
            answer->is_last_chunk = answer->chunk == 0;
            answer->body_left = answer->chunk + 2; /* and the end of the line */
            answer->chunk = 0;
        }
        else if (isxdigit((unsigned char)*text)) {
            answer->chunk = answer->chunk * 16 + hex_value(*text);
        }
    }
    return 0;
}

int answer_take(answer_t *answer, const char *text, size_t size)
{
    if (answer->head_size < MAX_HEAD) {
        size_t of_head = take_head(answer, text, size);

        if (answer->head_size < MAX_HEAD) {
            return 0;
        }
        text += of_head;
        size -= of_head;
    }
    if (answer->is_chunked) {
        return take_chunks(answer, text, size);
    }
    if (answer->body_left > 0) {
        answer->body_left -= (int64_t)size < answer->body_left ? (int64_t)size : answer->body_left;
    }
    return answer->body_left == 0;
}

int answer_is_cut(const answer_t *answer)
{
    return answer->head_size < MAX_HEAD || answer->body_left >= 0;
}
