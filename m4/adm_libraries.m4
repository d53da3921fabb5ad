dnl Libraries that are not httpd's own.

dnl ADM_LIBRARIES: jansson, which makes the JSON output, and Check, the unit
dnl tests. Check is not needed for the module: its absence stops `make check`
dnl and not `make`.
AC_DEFUN([ADM_LIBRARIES], [
    PKG_CHECK_MODULES([JANSSON], [jansson >= 2.7], [],
        [AC_MSG_ERROR([jansson not found. Install libjansson-dev (Debian, Ubuntu) or jansson-devel (Fedora, RHEL)])])
    PKG_CHECK_MODULES([CHECK], [check >= 0.12],
        [adm_have_check=yes], [adm_have_check="no (library check not found)"])
    AM_CONDITIONAL([HAVE_CHECK], [test "$adm_have_check" = yes])
])
