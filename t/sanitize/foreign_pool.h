/* foreign_pool.h - included before APR's tables/apr_tables.c where t/sanitize/run builds an
 * APR that looks for strings of pools that may end before their table's.
 *
 * httpd itself has such tables: ap_internal_fast_redirect() lays the notes of a subrequest
 * over those of its request, and ap_add_common_vars() adds strings of the primary
 * connection to a stream of HTTP/2, whose pool is not below it. With a plain abort() of
 * APR no test of these would end. So only callers from the module are aborted.
 */
#include <dlfcn.h>
#include <execinfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void abort_if_ours(void)
{
    void *frames[16];
    int n, count = backtrace(frames, 16);
    Dl_info info;

    for (n = 0; n < count; n++) {
        if (dladdr(frames[n], &info) && info.dli_fname && !strstr(info.dli_fname, "libapr-1.")) {
            break;
        }
    }
    if (n < count && strstr(info.dli_fname, "mod_admission")) {
        backtrace_symbols_fd(frames, count, 2);
        abort();
    }
}

#define abort() abort_if_ours()
