/* nice.c - AdmissionNice: programs of a zone leave the processors to httpd.
 *
 * Files are sent by httpd's own processes. While programs use all processors, each file
 * waits until the scheduler takes a processor from a program. The scheduler prefers httpd
 * if the programs have a lower priority. The core sets it between fork and exec; this
 * file tells the core which one.
 */
#include <httpd.h>

#include "module/conf.h"
#include "module/part.h"
#include "module/url.h"
#include "module/visit.h"

static void *begin(request_rec *r, admission_visit_t *visit)
{
    visit->ticket.program_nice = nice_conf_number(admission_url_conf(r)->nice);
    return NULL;
}

static void describe(apr_file_t *out, const admission_dir_conf_t *conf)
{
    if (nice_conf_number(conf->nice) > 0) {
        apr_file_printf(out, " nice %d", nice_conf_number(conf->nice));
    }
}

const admission_part_t admission_part_nice = { .describe = describe,
                                               .begin = begin };
