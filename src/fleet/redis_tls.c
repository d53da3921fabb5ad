/* redis_tls.c - TLS to the engine, if built with hiredis_ssl. */
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <apr_strings.h>

#include "redis_login.h"
#include "redis_tls.h"

#ifdef ADM_HAVE_REDIS_TLS

#include <arpa/inet.h>
#include <hiredis/hiredis_ssl.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

struct redis_tls_t {
    SSL_CTX *context;
};

/* ---- files -------------------------------------------------------------------- */

static apr_status_t free_context(void *data)
{
    SSL_CTX_free(data);
    return APR_SUCCESS;
}

/* @return the first error if the system reported it, such as a missing file; otherwise
 * the last, which is OpenSSL's most specific. */
static const char *reason(void)
{
    unsigned long first = ERR_peek_error();
    const char *text = ERR_GET_LIB(first) == ERR_LIB_SYS
                           ? strerror(ERR_GET_REASON(first))
                           : ERR_reason_error_string(ERR_peek_last_error());

    return text ? text : "unknown error";
}

static const char *unusable(apr_pool_t *p, const char *what, const char *path)
{
    return apr_psprintf(p, "tls=: the %s %s cannot be used: %s", what, path,
                        reason());
}

/* Split the list into @a paths. @return false unless it has one or three files. */
static bool split(apr_pool_t *p, const char *files, const char *paths[3])
{
    char *rest, *path = apr_strtok(apr_pstrdup(p, files), ",", &rest);
    int n;

    for (n = 0; path && n < 3; n++) {
        paths[n] = redis_login_path(p, path);
        path = apr_strtok(NULL, ",", &rest);
    }
    return !path && (n == 1 || n == 3);
}

static const char *read_files(apr_pool_t *p, SSL_CTX *context,
                              const char *const paths[3])
{
    if (!paths[0]) {
        return SSL_CTX_set_default_verify_paths(context) == 1
                   ? NULL
                   : "rediss: cannot load the CA certificates of the system; "
                     "set tls=ca-file";
    }
    if (SSL_CTX_load_verify_locations(context, paths[0], NULL) != 1) {
        return unusable(p, "ca-file", paths[0]);
    }
    if (paths[1]
        && SSL_CTX_use_certificate_chain_file(context, paths[1]) != 1) {
        return unusable(p, "certificate", paths[1]);
    }
    return !paths[2]
                   || SSL_CTX_use_PrivateKey_file(context, paths[2],
                                                  SSL_FILETYPE_PEM)
                          == 1
               ? NULL
               : unusable(p, "key", paths[2]);
}

/* Fail for an encrypted key: a reload has no terminal to ask for its passphrase. */
static int refuse_passphrase(char *passphrase, int room, int is_to_write,
                             void *data)
{
    return -1;
}

const char *redis_tls_read(apr_pool_t *p, const char *asked, const char *files,
                           const redis_tls_t **tls)
{
    const char *paths[3] = { NULL };
    redis_tls_t *read = apr_pcalloc(p, sizeof(*read));

    if (files && !split(p, files, paths)) {
        return apr_psprintf(p,
                            "'%s' is not tls=ca-file nor "
                            "tls=ca-file,certificate,key",
                            asked);
    }
    read->context = SSL_CTX_new(TLS_client_method());
    if (!read->context) {
        return "rediss: there is no memory for TLS";
    }
    apr_pool_cleanup_register(p, read->context, free_context,
                              apr_pool_cleanup_null);
    SSL_CTX_set_min_proto_version(read->context, TLS1_2_VERSION);
    SSL_CTX_set_verify(read->context, SSL_VERIFY_PEER, NULL);
    SSL_CTX_set_default_passwd_cb(read->context, refuse_passphrase);
    ERR_clear_error();
    *tls = read;
    return read_files(p, read->context, paths);
}

/* ---- connections -------------------------------------------------------------- */

/* A certificate has different fields for names and for addresses. */
static bool expect_name(SSL *session, const char *name)
{
    unsigned char ignored[16];

    if (inet_pton(AF_INET, name, ignored) == 1
        || inet_pton(AF_INET6, name, ignored) == 1) {
        return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(session), name)
               == 1;
    }
    return SSL_set1_host(session, name) == 1
           && SSL_set_tlsext_host_name(session, name) == 1;
}

const char *redis_tls_begin(const redis_tls_t *tls, redisContext *context,
                            const char *name, redis_tls_session_t **session)
{
    SSL *begun = SSL_new(tls->context);
    const char *error = NULL;

    ERR_clear_error();
    if (!begun || (name && !expect_name(begun, name))) {
        error = "TLS cannot start";
    }
    else if (redisInitiateSSL(context, begun) != REDIS_OK) {
        /* The handshake starts in this call, so its errors are possible. */
        error = redis_tls_error(begun, context->errstr, context->errstr,
                                sizeof(context->errstr));
    }
    if (error) {
        SSL_free(begun);
        return error;
    }
    *session = begun;
    return NULL;
}

short redis_tls_events(const redis_tls_session_t *session)
{
    if (!session || SSL_is_init_finished(session)) {
        return 0;
    }
    return SSL_want_read(session) ? POLLIN : POLLOUT;
}

const char *redis_tls_error(const redis_tls_session_t *session,
                            const char *otherwise, char *text, size_t room)
{
    long verified = session ? SSL_get_verify_result(session) : X509_V_OK;

    if (verified != X509_V_OK) {
        snprintf(text, room, "its certificate is not accepted: %s",
                 X509_verify_cert_error_string(verified));
        otherwise = text;
    }
    else if (session && ERR_peek_last_error() != 0) {
        snprintf(text, room, "TLS: %s", reason());
        otherwise = text;
    }
    /* OpenSSL's queue is per thread: the next connection would report the rest. */
    ERR_clear_error();
    return otherwise;
}

#else

const char *redis_tls_read(apr_pool_t *p, const char *asked, const char *files,
                           const redis_tls_t **tls)
{
    *tls = NULL;
    return apr_psprintf(p,
                        "'%s': TLS is not supported, because the build had no "
                        "hiredis_ssl; use a tunnel on this host, such as "
                        "stunnel, with redis://127.0.0.1:port or unix:",
                        asked);
}

const char *redis_tls_begin(const redis_tls_t *tls, redisContext *context,
                            const char *name, redis_tls_session_t **session)
{
    *session = NULL;
    return "TLS is not supported";
}

short redis_tls_events(const redis_tls_session_t *session)
{
    return 0;
}

const char *redis_tls_error(const redis_tls_session_t *session,
                            const char *otherwise, char *text, size_t room)
{
    return otherwise;
}

#endif
