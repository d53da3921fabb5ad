dnl Libraries that are not httpd's own.

dnl ADM_LIBRARIES: Check, for the unit tests. It is not needed for the module:
dnl its absence stops `make check` and not `make`.
AC_DEFUN([ADM_LIBRARIES], [
    PKG_CHECK_MODULES([CHECK], [check >= 0.12],
        [adm_have_check=yes], [adm_have_check="no (library check not found)"])
    AM_CONDITIONAL([HAVE_CHECK], [test "$adm_have_check" = yes])
])
