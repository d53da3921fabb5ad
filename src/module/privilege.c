/* privilege.c - whether this process can become another user.
 *
 * A zone's lock contains pointers. A process that can write to the shared
 * memory could thus make the next owner of a lock write to any address in its
 * own memory. If that owner can become root, so can the writer. Hence processes
 * with privileges take no lock.
 */
#include <httpd.h>
#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "privilege.h"

/* Not all capabilities: a server that is not started by root has
 * CAP_NET_BIND_SERVICE. */
static const int dangerous[] = {
    CAP_CHOWN,      CAP_DAC_OVERRIDE, CAP_FOWNER,     CAP_DAC_READ_SEARCH,
    CAP_SETGID,     CAP_SETUID,       CAP_SETPCAP,    CAP_SETFCAP,
    CAP_SYS_MODULE, CAP_SYS_RAWIO,    CAP_SYS_PTRACE, CAP_SYS_ADMIN
};

/* Tests the permitted set, because a process can make permitted capabilities
 * effective at any time. */
static bool has_dangerous_capability(void)
{
    struct __user_cap_header_struct header = {
        .version = _LINUX_CAPABILITY_VERSION_3
    };
    struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3] = { { 0 } };
    size_t i;

    if (syscall(SYS_capget, &header, sets) != 0) {
        return false; /* a sandbox forbids the call */
    }
    for (i = 0; i < sizeof(dangerous) / sizeof(*dangerous); i++) {
        if (sets[CAP_TO_INDEX(dangerous[i])].permitted
            & CAP_TO_MASK(dangerous[i])) {
            return true;
        }
    }
    return false;
}

bool admission_privilege_is_held(void)
{
    return geteuid() == 0 || getuid() == 0 || has_dangerous_capability();
}
