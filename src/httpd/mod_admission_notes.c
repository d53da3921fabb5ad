/* mod_admission_notes.c - what the access log and an ErrorDocument are told of a
 * request.
 */
#include <httpd.h>
#include <apr_strings.h>

#include "mod_admission_private.h"

static const char *const note_names[] = {
    ADMISSION_NOTE_STATUS, ADMISSION_NOTE_WAIT_MS,     ADMISSION_NOTE_ZONE,
    ADMISSION_NOTE_QUEUED, ADMISSION_NOTE_RETRY_AFTER,
};

void admission_note(request_rec *r, const char *name, const char *value)
{
    apr_table_setn(r->notes, name, value);
}

void admission_note_number(request_rec *r, const char *name, apr_int64_t number)
{
    admission_note(r, name, apr_psprintf(r->pool, "%" APR_INT64_T_FMT, number));
}

void admission_copy_notes(apr_table_t *to, const apr_table_t *from)
{
    size_t i;

    for (i = 0; i < sizeof(note_names) / sizeof(*note_names); i++) {
        const char *value = apr_table_get(from, note_names[i]);

        if (value) {
            apr_table_setn(to, note_names[i], value);
        }
        else {
            apr_table_unset(to, note_names[i]);
        }
    }
}

/* How much of what became of the client's request is told by what was decided
 * about this part of it. */
static int weight_of(const request_rec *r)
{
    const admission_request_t *known = admission_request_of(r);
    const char *status = apr_table_get(r->notes, ADMISSION_NOTE_STATUS);

    if (!status) {
        return 0;
    }
    if (known && known->was_rejected) {
        return 3;
    }
    return strcmp(status, "queued") == 0 ? 2 : 1;
}

/* The log shows the notes of the last of a chain of internal redirects; what
 * was decided may stand in an earlier one, and in more than one: a rejected
 * request may have an admitted error page. */
int admission_log_transaction(request_rec *r)
{
    request_rec *last = r;
    request_rec *told = r;

    for (; r; r = r->next) {
        last = r;
        if (r != told && weight_of(r) > weight_of(told)) {
            told = r;
        }
    }
    if (told != last) {
        admission_copy_notes(last->notes, told->notes);
    }
    return DECLINED;
}
