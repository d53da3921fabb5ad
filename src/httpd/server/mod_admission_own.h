/* mod_admission_own.h - which URLs lead to this very server. */
#ifndef MOD_ADMISSION_OWN_H
#define MOD_ADMISSION_OWN_H

#include <stdbool.h>

#include <apr_uri.h>
#include <httpd.h>

/** @return whether a URL leads to an address on which this very server listens, or
 *  to a name of its own; then it is in @a uri, with its port. Names are not
 *  resolved.
 *
 *  @param local_ip  by which the client came; NULL: not known */
bool admission_own_url(apr_pool_t *p, const char *url, const char *local_ip,
                       apr_uri_t *uri);

/** @return the virtual host that such a URL reaches, as far as ports and names
 *  tell; else the main server. */
const server_rec *admission_own_server(const apr_uri_t *uri);

#endif
