/* nested_local.h - which URLs lead to a program of this machine. */
#ifndef NESTED_LOCAL_H
#define NESTED_LOCAL_H

#include <stdbool.h>

#include <httpd.h>

/** @return whether an address is one of 127.0.0.0/8 or ::1. */
bool admission_local_is_loopback(const apr_sockaddr_t *address);

/** @return whether an HTTP URL leads to a loopback address, to an address on which this
 *  very server listens, or to a name of its own. A name is resolved once in each child.
 *
 *  @param local_ip  by which the client came */
bool admission_local_url(apr_pool_t *p, const char *url, const char *local_ip);

#endif
