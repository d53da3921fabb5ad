/* view_text.h - what the administrator and clients wrote, as UTF-8. */
#ifndef VIEW_TEXT_H
#define VIEW_TEXT_H

#include <stdbool.h>

#include <httpd.h>

/** What the administrator typed, as UTF-8: what is not, is read as ISO-8859-1,
 *  as httpd's own pages do. @return @a text itself where it is UTF-8. */
const char *admission_text_utf8(apr_pool_t *p, const char *text);

/** The same of a text that had room for so many bytes: if it fills them, half a
 *  character at its end is left out. */
const char *admission_text_utf8_cut(apr_pool_t *p, const char *text,
                                    apr_size_t room);

/** @return whether the text is UTF-8. */
bool admission_text_is_utf8(const char *text);

/** Write a character of ISO-8859-1 as UTF-8. @return where it ends. */
char *admission_text_put_latin1(char *end, unsigned char c);

/** Set the headers of every answer of the module's own pages. */
void admission_text_set_headers(request_rec *r);

/** Answer with a status and a sentence as plain text. @return what the handler returns. */
int admission_text_answer(request_rec *r, int status, const char *message);

#endif
