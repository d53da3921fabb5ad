/* mod_children.c - a module of the experiments: when children come and go, and
 * how long they live, drawn at random.
 *
 *     ChildrenRecord file        a line "ready" or "end", a child's process id
 *                                and the microsecond of the day's clock, for
 *                                each child that has run every module's start,
 *                                or begins to end
 *     ChildrenRandom min max     each child ends after so many connections,
 *                                drawn at random
 *
 * For the prefork MPM.
 */
#include <httpd.h>
#include <http_config.h>
#include <mpm_common.h>
#include <apr_file_io.h>
#include <apr_strings.h>
#include <apr_time.h>
#include <stdlib.h>
#include <unistd.h>

extern module AP_MODULE_DECLARE_DATA children_module;

static struct {
    const char *path;
    apr_file_t *file;
    int min, max; /* 0: as MaxConnectionsPerChild says */
} children;

static void note(const char *what)
{
    char line[64];
    apr_size_t size = (apr_size_t)apr_snprintf(line, sizeof(line),
                                               "%s %d %" APR_TIME_T_FMT "\n",
                                               what, (int)getpid(),
                                               apr_time_now());

    apr_file_write(children.file, line, &size);
}

static apr_status_t note_end(void *unused)
{
    (void)unused;
    note("end");
    return APR_SUCCESS;
}

/* Opened by the parent, which may write where children may not. */
static int open_record(apr_pool_t *pconf, apr_pool_t *plog, apr_pool_t *ptemp,
                       server_rec *s)
{
    (void)plog;
    (void)ptemp;
    (void)s;
    return !children.path
                   || apr_file_open(&children.file, children.path,
                                    APR_FOPEN_WRITE | APR_FOPEN_APPEND
                                        | APR_FOPEN_CREATE,
                                    APR_FPROT_OS_DEFAULT, pconf)
                          == APR_SUCCESS
               ? OK
               : HTTP_INTERNAL_SERVER_ERROR;
}

static void on_child_init(apr_pool_t *pchild, server_rec *s)
{
    (void)s;
    if (children.max) {
        srandom((unsigned)getpid() ^ (unsigned)apr_time_now());
        ap_max_requests_per_child =
            children.min + (int)(random() % (children.max - children.min + 1));
    }
    if (children.file) {
        note("ready");
        apr_pool_pre_cleanup_register(pchild, NULL, note_end);
    }
}

/* ---- directives ------------------------------------------------------------ */

static const char *set_record(cmd_parms *cmd, void *unused, const char *path)
{
    (void)unused;
    children.path = ap_server_root_relative(cmd->pool, path);
    return NULL;
}

static const char *set_random(cmd_parms *cmd, void *unused, const char *min,
                              const char *max)
{
    (void)cmd;
    (void)unused;
    children.min = atoi(min);
    children.max = atoi(max);
    return children.min > 0 && children.max >= children.min
               ? NULL
               : "ChildrenRandom: two numbers, the smaller one first";
}

static const command_rec directives[] = {
    AP_INIT_TAKE1("ChildrenRecord", set_record, NULL, RSRC_CONF,
                  "the file to write to when a child comes or goes"),
    AP_INIT_TAKE2("ChildrenRandom", set_random, NULL, RSRC_CONF,
                  "least and largest number of connections of a child"),
    { 0 }
};

static void register_hooks(apr_pool_t *p)
{
    (void)p;
    ap_hook_post_config(open_record, NULL, NULL, APR_HOOK_MIDDLE);
    /* A child is ready when every module is. Only mod_admission's word of it
     * comes later: the next child may begin to end at once, and that must not be
     * noted first. */
    ap_hook_child_init(on_child_init, NULL, NULL, APR_HOOK_REALLY_LAST - 1);
}

AP_DECLARE_MODULE(children) = {
    STANDARD20_MODULE_STUFF, NULL, NULL, NULL, NULL, directives, register_hooks,
    AP_MODULE_FLAG_NONE
};
