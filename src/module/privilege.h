/* privilege.h - whether this process can become another user. */
#ifndef MODULE_PRIVILEGE_H
#define MODULE_PRIVILEGE_H

#include <stdbool.h>

/** @return whether the calling thread is root's, or has a capability with which
 *  it can become root or act on others' files and processes; also one that is
 *  not in effect. Makes a few system calls. */
bool admission_privilege_is_held(void);

#endif
