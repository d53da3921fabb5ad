/* privilege.c - whether this process can become another user.
 *
 * The lock of a zone has pointers in it, so whoever can write into the shared
 * memory makes the next owner of a lock write where they like. Children give that
 * to nobody who is not one of them. A process that can become root would.
 */
#include <httpd.h>
#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "privilege.h"

/* Not all: a server that root does not start has CAP_NET_BIND_SERVICE. */
static const int dangerous[] = {
    CAP_CHOWN,      CAP_DAC_OVERRIDE, CAP_FOWNER,     CAP_DAC_READ_SEARCH,
    CAP_SETGID,     CAP_SETUID,       CAP_SETPCAP,    CAP_SETFCAP,
    CAP_SYS_MODULE, CAP_SYS_RAWIO,    CAP_SYS_PTRACE, CAP_SYS_ADMIN
};

/* What is permitted can be put into effect at any time. */
static bool has_dangerous_capability(void)
{
    struct __user_cap_header_struct header = {
        .version = _LINUX_CAPABILITY_VERSION_3
    };
    struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3] = { { 0 } };
    size_t i;

    if (syscall(SYS_capget, &header, sets) != 0) {
        return false; /* forbidden by a sandbox, which knows why */
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
