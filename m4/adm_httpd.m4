dnl Where httpd and APR are. Everything is asked of apxs, so that the module is
dnl built for the httpd that apxs belongs to and not for another one.

dnl ADM_STRIP_LTO(variable): distributions build httpd with link time
dnl optimisation and their tools hand the flags on; they tie the module to one
dnl version of one compiler.
AC_DEFUN([ADM_STRIP_LTO], [
    $1=`AS_ECHO(["$[]$1"]) | sed -e 's/-flto@<:@^ @:>@*//g' -e 's/-ffat-lto-objects//g'`
])

dnl ADM_HTTPD: sets APXS, HTTPD, LIBEXECDIR, moduledir and the flags
dnl APR_CFLAGS, APR_LIBS (what the core sees), HTTPD_CFLAGS and APU_LIBS (the glue).
AC_DEFUN([ADM_HTTPD], [
    AC_ARG_VAR([APXS], [httpd's extension tool])
    AC_ARG_WITH([apxs],
        [AS_HELP_STRING([--with-apxs=PATH], [httpd's apxs, if not in PATH])],
        [APXS=$withval])
    AC_PATH_PROGS([APXS], [apxs apxs2], [],
        [$PATH:/usr/sbin:/usr/local/apache2/bin:/usr/local/sbin])
    AS_IF([test ! -x "$APXS"],
        [AC_MSG_ERROR([apxs not found. Install apache2-dev (Debian, Ubuntu) or httpd-devel (Fedora, RHEL), or say --with-apxs=PATH])])

    adm_apr_config=`$APXS -q APR_CONFIG`
    adm_apu_config=`$APXS -q APU_CONFIG`
    AS_IF([test ! -x "$adm_apr_config" || test ! -x "$adm_apu_config"],
        [AC_MSG_ERROR([$APXS names no apr-config and apu-config that can be run])])

    APR_CFLAGS=`$adm_apr_config --includes --cppflags --cflags`
    APR_LIBS=`$adm_apr_config --link-ld --libs`
    APU_LIBS=`$adm_apu_config --link-ld`
    HTTPD_CFLAGS="-I`$APXS -q INCLUDEDIR` $APR_CFLAGS `$adm_apu_config --includes`"
    ADM_STRIP_LTO([APR_CFLAGS])
    ADM_STRIP_LTO([HTTPD_CFLAGS])
    AC_SUBST([APR_CFLAGS])
    AC_SUBST([APR_LIBS])
    AC_SUBST([APU_LIBS])
    AC_SUBST([HTTPD_CFLAGS])

    adm_save_CPPFLAGS=$CPPFLAGS
    CPPFLAGS="$CPPFLAGS $HTTPD_CFLAGS"
    AC_CHECK_HEADER([httpd.h], [],
        [AC_MSG_ERROR([httpd's headers do not compile; see config.log])],
        [#include <apr.h>])
    AC_MSG_CHECKING([whether httpd is a 2.4])
    AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[
            #include <ap_mmn.h>
            #if MODULE_MAGIC_NUMBER_MAJOR != 20120211
            #error not 2.4
            #endif]])],
        [AC_MSG_RESULT([yes])],
        [AC_MSG_RESULT([no])
         adm_version=`$APXS -q HTTPD_VERSION`
         AC_MSG_ERROR([mod_admission is for httpd 2.4, from 2.4.37 on. $APXS belongs to $adm_version: say --with-apxs=PATH for another one])])
    CPPFLAGS=$adm_save_CPPFLAGS

    AC_SUBST([LIBEXECDIR], [`$APXS -q LIBEXECDIR`])
    AC_ARG_WITH([moduledir],
        [AS_HELP_STRING([--with-moduledir=DIR],
            [where to install the module (default: what apxs says)])],
        [moduledir=$withval], [moduledir=$LIBEXECDIR])
    AC_SUBST([moduledir])

    AC_ARG_VAR([HTTPD], [httpd's binary, for the tests])
    AC_ARG_WITH([httpd],
        [AS_HELP_STRING([--with-httpd=PATH], [httpd's binary, for the tests])],
        [HTTPD=$withval])
    AC_PATH_PROGS([HTTPD], [`$APXS -q PROGNAME` httpd apache2], [not found],
        [`$APXS -q SBINDIR`:$PATH:/usr/sbin])
])
