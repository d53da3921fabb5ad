/* privilege.h - whether this process can become another user. */
#ifndef MODULE_PRIVILEGE_H
#define MODULE_PRIVILEGE_H

#include <stdbool.h>

/** @return whether the calling thread is root, or has a capability to become
 *  root or to act on other users' files and processes, even if that capability
 *  is not in effect. A few system calls. */
bool admission_privilege_is_held(void);

#endif
