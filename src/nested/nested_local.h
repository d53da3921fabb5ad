/* nested_local.h - which URLs lead to a program on this machine. */
#ifndef NESTED_LOCAL_H
#define NESTED_LOCAL_H

#include <stdbool.h>

#include <httpd.h>

/** @return whether an address is in 127.0.0.0/8 or is ::1. */
bool admission_local_is_loopback(const apr_sockaddr_t *address);

/**
 * @return whether an HTTP URL leads to a loopback address, to an address on
 *         which this server listens, or to one of its own names. Blocks while a
 *         name is resolved, once per name and child.
 *
 * @param local_ip  the server's address of the client's connection
 */
bool admission_local_url(apr_pool_t *p, const char *url, const char *local_ip);

#endif
