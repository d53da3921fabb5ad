/* mod_buckets.c - handlers whose answers have other buckets than data.
 *
 *   broken    fails half-way: it says so to the filters, and to httpd that it has done
 *             nothing
 *   unread    ten bytes and what cannot be read, in one brigade; then what httpd says
 *             of the error
 *   flushed   ten bytes, FLUSH and the end in one brigade
 *   refused   ten bytes and FLUSH, which a filter below the spool refuses once; the
 *             error log has what the handler learns
 */
#include <httpd.h>
#include <errno.h>

#include <http_config.h>
#include <http_log.h>
#include <http_protocol.h>

module AP_MODULE_DECLARE_DATA buckets_module;
APLOG_USE_MODULE(buckets);

#define LINES 10000

static int break_off(request_rec *r)
{
    apr_bucket_alloc_t *alloc = r->connection->bucket_alloc;
    apr_bucket_brigade *bb = apr_brigade_create(r->pool, alloc);
    int i;

    for (i = 0; i < LINES; i++) {
        ap_rprintf(r, "%09d\n", i);
    }
    APR_BRIGADE_INSERT_TAIL(bb, ap_bucket_error_create(HTTP_BAD_GATEWAY, NULL, r->pool, alloc));
    ap_pass_brigade(r->output_filters, bb);
    return DECLINED;
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
    apr_bucket_brigade *bb = apr_brigade_create(r->pool, alloc);
    apr_bucket *b = apr_bucket_alloc(sizeof(*b), alloc);

    apr_brigade_puts(bb, NULL, NULL, "ten bytes\n");
    APR_BUCKET_INIT(b);
    b->free = apr_bucket_free;
    b->list = alloc;
    b->type = &unreadable;
    b->length = (apr_size_t)-1;
    b->start = 0;
    b->data = NULL;
    APR_BRIGADE_INSERT_TAIL(bb, b);
    APR_BRIGADE_INSERT_TAIL(bb, apr_bucket_eos_create(alloc));
    return ap_pass_brigade(r->output_filters, bb) == APR_SUCCESS ? OK
           : r->args                                             ? HTTP_INTERNAL_SERVER_ERROR
                                                                 : OK;
}

static int flush_at_end(request_rec *r)
{
    apr_bucket_alloc_t *alloc = r->connection->bucket_alloc;
    apr_bucket_brigade *bb = apr_brigade_create(r->pool, alloc);

    apr_brigade_puts(bb, NULL, NULL, "ten bytes\n");
    APR_BRIGADE_INSERT_TAIL(bb, apr_bucket_flush_create(alloc));
    APR_BRIGADE_INSERT_TAIL(bb, apr_bucket_eos_create(alloc));
    return ap_pass_brigade(r->output_filters, bb) == APR_SUCCESS ? OK : HTTP_INTERNAL_SERVER_ERROR;
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
    apr_bucket_brigade *bb = apr_brigade_create(r->pool, c->bucket_alloc);
    apr_status_t rv;

    ap_add_output_filter("REFUSE", NULL, r, c);
    apr_brigade_puts(bb, NULL, NULL, "ten bytes\n");
    APR_BRIGADE_INSERT_TAIL(bb, apr_bucket_flush_create(c->bucket_alloc));
    rv = ap_pass_brigade(r->output_filters, bb);
    ap_log_rerror(APLOG_MARK, APLOG_INFO, 0, r, "%s: the flush %s", r->uri,
                  rv == EIO ? "fails" : "succeeds");
    c->aborted = 1; /* the header is lost */
    return OK;
}

static int answer(request_rec *r)
{
    if (strcmp(r->handler, "broken") == 0) {
        ap_set_content_type(r, "text/plain");
        return break_off(r);
    }
    if (strcmp(r->handler, "unread") == 0) {
        ap_set_content_type(r, "text/plain");
        return answer_unread(r);
    }
    if (strcmp(r->handler, "flushed") == 0) {
        ap_set_content_type(r, "text/plain");
        return flush_at_end(r);
    }
    if (strcmp(r->handler, "refused") == 0) {
        return answer_refused(r);
    }
    return DECLINED;
}

static void register_hooks(apr_pool_t *p)
{
    (void)p;
    ap_register_output_filter("REFUSE", refuse_once, NULL, AP_FTYPE_TRANSCODE);
    ap_hook_handler(answer, NULL, NULL, APR_HOOK_MIDDLE);
}

module AP_MODULE_DECLARE_DATA buckets_module = {
    STANDARD20_MODULE_STUFF, NULL, NULL, NULL, NULL, NULL, register_hooks
};
