/* view_text.h - texts of the administrator and of clients, as UTF-8. */
#ifndef VIEW_TEXT_H
#define VIEW_TEXT_H

#include <httpd.h>

/** @return a configured text as UTF-8: @a text itself if it is UTF-8, otherwise
 *  converted from ISO-8859-1, as on httpd's own pages. */
const char *admission_text_utf8(apr_pool_t *p, const char *text);

/** As above, for a text from a buffer of @a room bytes: if it fills the buffer,
 *  a partial character at its end is left out. */
const char *admission_text_utf8_cut(apr_pool_t *p, const char *text,
                                    apr_size_t room);

/** Set the headers of every response of the module's own pages. */
void admission_text_set_headers(request_rec *r);

/** Respond that no zone has this name, as a client gave it. */
int admission_text_no_zone(request_rec *r, const char *name);

/** Respond with a status and a sentence as plain text. @return the handler's
 *  result. */
int admission_text_answer(request_rec *r, int status, const char *message);

#endif
