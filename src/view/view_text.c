/* view_text.c - texts of the administrator and of clients, as UTF-8. */
#include <stdbool.h>
#include <string.h>

#include <apr_strings.h>

#include <http_protocol.h>

#include "view_text.h"

/* @return the length of the UTF-8 character at @a text; 0: there is none. */
static int utf8_length(const unsigned char *text)
{
    unsigned first = text[0], second = text[1];
    int length = first < 0x80                     ? 1
                 : first >= 0xc2 && first <= 0xdf ? 2
                 : first >= 0xe0 && first <= 0xef ? 3
                 : first >= 0xf0 && first <= 0xf4 ? 4
                                                  : 0;
    int i;

    /* Rejects overlong forms, surrogates, and values beyond the last character. */
    if ((first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f)
        || (first == 0xf0 && second < 0x90)
        || (first == 0xf4 && second > 0x8f)) {
        return 0;
    }
    for (i = 1; i < length; i++) {
        if ((text[i] & 0xc0) != 0x80) {
            return 0;
        }
    }
    return length;
}

static bool is_utf8(const char *text)
{
    const unsigned char *c = (const unsigned char *)text;
    int length = 1;

    while (*c && length) {
        length = utf8_length(c);
        c += length;
    }
    return length != 0;
}

const char *admission_text_utf8(apr_pool_t *p, const char *text)
{
    char *utf8, *end;

    if (is_utf8(text)) {
        return text;
    }
    utf8 = end = apr_palloc(p, 2 * strlen(text) + 1);
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;

        if (c >= 0x80) {
            *end++ = (char)(0xc0 | c >> 6);
            c = 0x80 | (c & 0x3f);
        }
        *end++ = (char)c;
    }
    *end = '\0';
    return utf8;
}

const char *admission_text_utf8_cut(apr_pool_t *p, const char *text,
                                    apr_size_t room)
{
    apr_size_t length = strlen(text);
    int back;

    for (back = 1; length >= room && back <= 3 && back <= (int)length; back++) {
        if ((unsigned char)text[length - back] >= 0xc0) {
            const char *whole = apr_pstrmemdup(p, text, length - back);

            return is_utf8(whole) && !is_utf8(text)
                       ? whole
                       : admission_text_utf8(p, text);
        }
    }
    return admission_text_utf8(p, text);
}

/* Sets X-Admission as well: a backend behind `ProxyPass "/"` can respond for
 * this URL, and admissionctl has to distinguish the two. */
void admission_text_set_headers(request_rec *r)
{
    apr_table_setn(r->headers_out, "X-Content-Type-Options", "nosniff");
    apr_table_setn(r->headers_out, "X-Admission", "1");
}

int admission_text_answer(request_rec *r, int status, const char *message)
{
    r->status = status;
    ap_set_content_type(r, "text/plain; charset=utf-8");
    admission_text_set_headers(r);
    ap_rvputs(r, message, "\n", NULL);
    return OK;
}

int admission_text_no_zone(request_rec *r, const char *name)
{
    return admission_text_answer(r, HTTP_NOT_FOUND,
                                 apr_pstrcat(r->pool, "No zone is called '",
                                             admission_text_utf8(r->pool, name),
                                             "'.", NULL));
}
