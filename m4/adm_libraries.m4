dnl Libraries that are not httpd's own.

dnl ADM_LIBRARIES: Check, for the unit tests. It is not needed for the module:
dnl its absence stops `make check` and not `make`. hiredis, for the engine.
AC_DEFUN([ADM_LIBRARIES], [
    PKG_CHECK_MODULES([CHECK], [check >= 0.12],
        [adm_have_check=yes], [adm_have_check="no (library check not found)"])
    AM_CONDITIONAL([HAVE_CHECK], [test "$adm_have_check" = yes])

    dnl hiredis, for one limit over many servers. Without it there is no
    dnl mod_admission_redis.so, and nothing else changes.
    AC_ARG_WITH([hiredis],
        [AS_HELP_STRING([--without-hiredis],
            [do not build mod_admission_redis])],
        [], [with_hiredis=check])
    adm_have_hiredis=no
    AS_IF([test "$with_hiredis" != no], [
        PKG_CHECK_MODULES([HIREDIS], [hiredis >= 0.14],
            [adm_have_hiredis=yes],
            [AS_IF([test "$with_hiredis" = yes],
                [AC_MSG_ERROR([--with-hiredis: the library hiredis 0.14 or later is not found])])
             adm_have_hiredis="no (library hiredis not found)"])
    ])
    AS_IF([test "$with_fleet" = no], [adm_have_hiredis="no (--without-fleet)"])
    AM_CONDITIONAL([HAVE_HIREDIS], [test "$adm_have_hiredis" = yes])

    dnl TLS to the engine: hiredis 1.0 and later may have it. Names of certificates
    dnl are checked by OpenSSL itself.
    AS_IF([test "$adm_have_hiredis" = yes], [
        PKG_CHECK_MODULES([HIREDIS_SSL],
            [hiredis_ssl >= 1.0 libssl >= 1.1 libcrypto >= 1.1],
            [adm_have_hiredis="yes, with TLS"
             HIREDIS_LIBS="$HIREDIS_SSL_LIBS $HIREDIS_LIBS"
             HIREDIS_CFLAGS="$HIREDIS_SSL_CFLAGS $HIREDIS_CFLAGS -DADM_HAVE_REDIS_TLS"],
            [adm_have_hiredis="yes, without TLS (library hiredis_ssl not found)"])
    ])
])
