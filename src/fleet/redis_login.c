/* redis_login.c - login to Redis or to a Sentinel. */
#include <string.h>

#include <apr_file_io.h>
#include <apr_strings.h>
#include <httpd.h>
#include <http_config.h>

#include "redis_login.h"

#define LONGEST_PASSWORD 512

/* List of the configuration's passwords, to overwrite them. */
typedef struct secret_t {
    char *text;
    struct secret_t *next;
} secret_t;

static secret_t *secrets;

static apr_status_t erase(void *data)
{
    secret_t *secret = data;
    secret_t **at = &secrets;

    while (*at && *at != secret) {
        at = &(*at)->next;
    }
    if (*at) {
        *at = secret->next;
    }
    explicit_bzero(secret->text, strlen(secret->text));
    return APR_SUCCESS;
}

static const char *store(apr_pool_t *p, const char *text)
{
    secret_t *secret = apr_palloc(p, sizeof(*secret));

    secret->text = apr_pstrdup(p, text);
    secret->next = secrets;
    secrets = secret;
    apr_pool_cleanup_register(p, secret, erase, apr_pool_cleanup_null);
    return secret->text;
}

void redis_login_erase(void)
{
    const secret_t *secret;

    for (secret = secrets; secret; secret = secret->next) {
        explicit_bzero(secret->text, strlen(secret->text));
    }
}

const char *redis_login_path(apr_pool_t *p, const char *path)
{
    const char *whole = ap_server_root_relative(p, path);

    return whole ? whole : path;
}

/* Read the file's first line. Rejects a file that all users can read. */
static const char *read_password(apr_pool_t *p, const char *option,
                                 const char *path, const char **password)
{
    char text[LONGEST_PASSWORD + 2];
    apr_size_t length = sizeof(text) - 1;
    apr_file_t *file;
    apr_finfo_t info;
    apr_status_t rv = apr_file_open(&file, path, APR_READ, 0, p);

    if (rv == APR_SUCCESS) {
        rv = apr_file_info_get(&info, APR_FINFO_PROT, file);
        if (rv == APR_SUCCESS && (info.protection & APR_WREAD)) {
            apr_file_close(file);
            return apr_psprintf(p,
                                "%s is readable by all users; only its owner "
                                "may have access",
                                option);
        }
        rv = apr_file_read_full(file, text, length, &length);
        apr_file_close(file);
    }
    if (rv != APR_SUCCESS && rv != APR_EOF) {
        char why[120];

        return apr_psprintf(p, "%s cannot be read: %s", option,
                            apr_strerror(rv, why, sizeof(why)));
    }
    text[length] = '\0';
    text[strcspn(text, "\r\n")] = '\0';
    *password = store(p, text);
    explicit_bzero(text, sizeof(text));
    return **password && length <= LONGEST_PASSWORD
               ? NULL
               : apr_psprintf(p,
                              "%s has no password of 1 to %d characters in "
                              "its first line",
                              option, LONGEST_PASSWORD);
}

/* @return the value; NULL if it is empty, or the option has another name. */
static const char *value_of(const char *option, const char *name)
{
    size_t length = strlen(name);

    return strncmp(option, name, length) == 0 && option[length]
               ? option + length
               : NULL;
}

bool redis_login_read(apr_pool_t *p, const char *option, const char *user_is,
                      const char *file_is, redis_login_t *login,
                      const char **error)
{
    const char *user = value_of(option, user_is);
    const char *path = value_of(option, file_is);

    *error = NULL;
    if (user) {
        login->user = user;
    }
    else if (path) {
        path = redis_login_path(p, path);
        *error = read_password(p, apr_pstrcat(p, file_is, path, NULL), path,
                               &login->password);
    }
    return user || path;
}

bool redis_login_queue_auth(redisContext *context, const redis_login_t *login)
{
    if (!login->password) {
        return false;
    }
    if (login->user) {
        redisAppendCommand(context, "AUTH %s %s", login->user, login->password);
    }
    else {
        redisAppendCommand(context, "AUTH %s", login->password);
    }
    return true;
}
