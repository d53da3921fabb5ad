/* mod_answers.c - what the tests need of other modules.
 *
 * answers_module has handlers whose answers have other buckets than data, one that answers
 * later, and one that names no handler:
 *
 *   broken    fails half-way: it says so to the filters, and to httpd that it has done
 *             nothing
 *   unread    ten bytes and what cannot be read, in one brigade
 *   flushed   ten bytes, FLUSH and the end in one brigade
 *   refused   ten bytes and FLUSH, which a filter below the spool refuses once; the
 *             error log has what the handler learns
 *   later     returns SUSPENDED and answers from a thread of its own, as soon as the file
 *             exists that the query names
 *
 * As Phusion Passenger, it serves in its handler hook what is below /app and no existing
 * file, and names no handler. "/app/x?PATH" is answered as soon as PATH exists; "take" has
 * it serve an existing file as well, "decline" has it log that it was asked, and serve nothing.
 *
 * dav_svn_module, as Subversion's, serves POST requests below /svn in its handler hook, and
 * names no handler for them. php_module runs executable pages, as PHP in the server with
 * "php_value xbithack 1". before_module leaves in httpd's parent what mod_admission 0.1 left
 * there: its segment under a key whose number is its layout, and no version. What the key
 * leads to is nobody's business any more.
 */
#include <errno.h>
#include <pthread.h>
#include <unistd.h>

#include <httpd.h>
#include <apr_file_info.h>
#include <http_config.h>
#include <http_connection.h>
#include <http_log.h>
#include <http_protocol.h>
#include <http_request.h>

module AP_MODULE_DECLARE_DATA answers_module;
APLOG_USE_MODULE(answers);

#define KEY_OF_0_1 "mod_admission.segment.16809828"
#define LINES 10000
#define LONGEST_SEC 60
#define NAP_USEC 10000

static int pass(request_rec *r, apr_bucket_brigade *bb)
{
    return ap_pass_brigade(r->output_filters, bb) == APR_SUCCESS ? OK : HTTP_INTERNAL_SERVER_ERROR;
}

static int break_off(request_rec *r)
{
    apr_bucket_alloc_t *alloc = r->connection->bucket_alloc;
    apr_bucket_brigade *bb = apr_brigade_create(r->pool, alloc);
    int i;

    for (i = 0; i < LINES; i++) {
        ap_rprintf(r, "%09d\n", i);
    }
    APR_BRIGADE_INSERT_TAIL(bb, ap_bucket_error_create(HTTP_BAD_GATEWAY, NULL, r->pool, alloc));
    pass(r, bb);
    return DECLINED;
}

static apr_bucket_brigade *ten_bytes(request_rec *r)
{
    apr_bucket_brigade *bb = apr_brigade_create(r->pool, r->connection->bucket_alloc);

    apr_brigade_puts(bb, NULL, NULL, "ten bytes\n");
    return bb;
}

static apr_status_t fail_to_read(apr_bucket *b, const char **data, apr_size_t *length,
                                 apr_read_type_e block)
{
    (void)b;
    (void)data;
    (void)length;
    (void)block;
    return EIO;
}

static const apr_bucket_type_t unreadable = { "UNREADABLE",
                                              5,
                                              APR_BUCKET_DATA,
                                              apr_bucket_destroy_noop,
                                              fail_to_read,
                                              apr_bucket_setaside_noop,
                                              apr_bucket_split_notimpl,
                                              apr_bucket_copy_notimpl };

static int answer_unread(request_rec *r)
{
    apr_bucket_alloc_t *alloc = r->connection->bucket_alloc;
    apr_bucket_brigade *bb = ten_bytes(r);
    apr_bucket *b = apr_bucket_alloc(sizeof(*b), alloc);

    APR_BUCKET_INIT(b);
    b->free = apr_bucket_free;
    b->list = alloc;
    b->type = &unreadable;
    b->length = (apr_size_t)-1;
    b->start = 0;
    b->data = NULL;
    APR_BRIGADE_INSERT_TAIL(bb, b);
    apr_brigade_puts(bb, NULL, NULL, "behind\n");
    APR_BRIGADE_INSERT_TAIL(bb, apr_bucket_eos_create(alloc));
    pass(r, bb);
    return OK;
}

static int flush_at_end(request_rec *r)
{
    apr_bucket_alloc_t *alloc = r->connection->bucket_alloc;
    apr_bucket_brigade *bb = ten_bytes(r);

    APR_BRIGADE_INSERT_TAIL(bb, apr_bucket_flush_create(alloc));
    APR_BRIGADE_INSERT_TAIL(bb, apr_bucket_eos_create(alloc));
    return pass(r, bb);
}

static apr_status_t refuse_once(ap_filter_t *f, apr_bucket_brigade *bb)
{
    ap_remove_output_filter(f);
    apr_brigade_cleanup(bb);
    return EIO;
}

static int answer_refused(request_rec *r)
{
    conn_rec *c = r->connection;
    apr_bucket_brigade *bb = ten_bytes(r);
    apr_status_t rv;

    ap_add_output_filter("REFUSE", NULL, r, c);
    APR_BRIGADE_INSERT_TAIL(bb, apr_bucket_flush_create(c->bucket_alloc));
    rv = ap_pass_brigade(r->output_filters, bb);
    ap_log_rerror(APLOG_MARK, APLOG_INFO, 0, r, "%s: the flush %s", r->uri,
                  rv == EIO ? "fails" : "succeeds");
    c->aborted = 1; /* the header is lost */
    return OK;
}

/* The gate is a path. */
static void wait_for(const char *gate, apr_pool_t *p)
{
    apr_finfo_t info;
    int naps;

    for (naps = 0; naps < LONGEST_SEC * (1000000 / NAP_USEC); naps++) {
        if (apr_stat(&info, gate, APR_FINFO_MIN, p) == APR_SUCCESS) {
            return;
        }
        usleep(NAP_USEC);
    }
}

static void *answer_later(void *data)
{
    request_rec *r = data;
    conn_rec *c = r->connection;

    /* Held until the request is suspended. */
    apr_thread_mutex_lock(r->invoke_mtx);
    apr_thread_mutex_unlock(r->invoke_mtx);
    wait_for(r->args, r->pool);
    ap_rputs("later\n", r);
    ap_finalize_request_protocol(r);
    ap_process_request_after_handler(r);
    ap_flush_conn(c); /* nobody else does, up to httpd 2.4 */
    return NULL;
}

static int suspend(request_rec *r)
{
    pthread_t thread;

    r->connection->keepalive = AP_CONN_CLOSE;
    return pthread_create(&thread, NULL, answer_later, r) == 0 ? SUSPENDED
                                                               : HTTP_INTERNAL_SERVER_ERROR;
}

static int serve_nameless(request_rec *r)
{
    if (strncmp(r->uri, "/app", 4) != 0
        || (r->finfo.filetype == APR_REG && !(r->path_info && *r->path_info)
            && !(r->args && strcmp(r->args, "take") == 0))) {
        return DECLINED;
    }
    if (r->args && strcmp(r->args, "decline") == 0) {
        ap_log_rerror(APLOG_MARK, APLOG_NOTICE, 0, r, "asked");
        return DECLINED;
    }
    if (r->args && *r->args == '/') {
        wait_for(r->args, r->pool);
    }
    ap_set_content_type(r, "text/plain");
    ap_rprintf(r, "served %s\n", r->method);
    return OK;
}

static const struct {
    const char *name;
    int (*serve)(request_rec *r);
} handlers[] = {
    { "broken", break_off },       { "unread", answer_unread }, { "flushed", flush_at_end },
    { "refused", answer_refused }, { "later", suspend },
};

static int answer(request_rec *r)
{
    size_t n;

    for (n = 0; n < sizeof(handlers) / sizeof(*handlers); n++) {
        if (strcmp(r->handler, handlers[n].name) == 0) {
            ap_set_content_type(r, "text/plain");
            return handlers[n].serve(r);
        }
    }
    return serve_nameless(r);
}

static void register_hooks(apr_pool_t *p)
{
    (void)p;
    ap_register_output_filter("REFUSE", refuse_once, NULL, AP_FTYPE_TRANSCODE);
    /* Before mod_autoindex, which takes directories. */
    ap_hook_handler(answer, NULL, NULL, APR_HOOK_FIRST);
}

module AP_MODULE_DECLARE_DATA answers_module = {
    STANDARD20_MODULE_STUFF, NULL, NULL, NULL, NULL, NULL, register_hooks
};

/* ---- modules of other names ------------------------------------------------------ */

static int answer_text(request_rec *r, const char *text)
{
    ap_set_content_type(r, "text/plain");
    ap_rputs(text, r);
    return OK;
}

static int serve_post(request_rec *r)
{
    return r->method_number == M_POST && strncmp(r->uri, "/svn", 4) == 0
               ? answer_text(r, "posted\n")
               : DECLINED;
}

static int run_page(request_rec *r)
{
    return strcmp(r->handler, "text/html") == 0 && (r->finfo.protection & APR_FPROT_UEXECUTE)
               ? answer_text(r, "run by PHP\n")
               : DECLINED;
}

static int leave_segment(apr_pool_t *pconf, apr_pool_t *plog, apr_pool_t *ptemp, server_rec *s)
{
    (void)pconf;
    (void)plog;
    (void)ptemp;
    (void)s;
    if (!ap_retained_data_get(KEY_OF_0_1)) {
        ap_retained_data_create(KEY_OF_0_1, sizeof(void *));
    }
    return OK;
}

static void hook_dav_svn(apr_pool_t *p)
{
    (void)p;
    ap_hook_handler(serve_post, NULL, NULL, APR_HOOK_LAST);
}

static void hook_php(apr_pool_t *p)
{
    (void)p;
    ap_hook_handler(run_page, NULL, NULL, APR_HOOK_MIDDLE);
}

static void hook_before(apr_pool_t *p)
{
    (void)p;
    ap_hook_post_config(leave_segment, NULL, NULL, APR_HOOK_REALLY_FIRST);
}

/* With another name than that of this file. */
#define MODULE(id, hooks)                                                  \
    module AP_MODULE_DECLARE_DATA id##_module = { STANDARD20_MODULE_STUFF, \
                                                  .name = "mod_" #id ".c", \
                                                  .register_hooks = hooks }

MODULE(dav_svn, hook_dav_svn);
MODULE(php, hook_php);
MODULE(before, hook_before);
