dnl Flags of the compiler. They are kept out of CFLAGS, which belongs to the
dnl user, and are not used for configure's own probes, which they would break.

dnl ADM_TRY_CFLAG(flag): adds it to ADM_CFLAGS if the compiler knows it. Asks
dnl for -Wname where flag is -Wno-name, which gcc accepts with any name. Not
dnl AC_COMPILE_IFELSE: -Wunused-macros finds the macros of configure unused.
AC_DEFUN([ADM_TRY_CFLAG], [
    AC_MSG_CHECKING([whether $CC knows $1])
    echo 'extern int nothing;' >conftest.c
    AS_IF([$CC $CFLAGS -Werror m4_bpatsubst([$1], [^-Wno-], [-W]) -c conftest.c \
               >&AS_MESSAGE_LOG_FD 2>&1],
        [AC_MSG_RESULT([yes]); ADM_CFLAGS="$ADM_CFLAGS $1"],
        [AC_MSG_RESULT([no])])
])

dnl ADM_SAME_NUMBERS: the law of `auto` yields the same numbers on every processor.
dnl No multiplication is fused with an addition, and 32-bit x86 does not compute
dnl with 80 bits: 20 * 0.7 is 14 and not 13.99. CFLAGS=-mfpmath=387 for processors
dnl without SSE2.
AC_DEFUN([ADM_SAME_NUMBERS], [
    ADM_TRY_CFLAG([-ffp-contract=off])
    AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[
            #include <float.h>
            #if defined(__i386__) && FLT_EVAL_METHOD != 0
            #error x87
            #endif]])],
        [],
        [ADM_TRY_CFLAG([-msse2 -mfpmath=sse])])
])

AC_DEFUN([ADM_COMPILER_FLAGS], [
    AC_ARG_ENABLE([werror],
        [AS_HELP_STRING([--enable-werror], [more warnings, which are errors])])

    ADM_STRIP_LTO([CFLAGS])
    ADM_CFLAGS=-std=gnu11
    m4_foreach_w([adm_flag],
        [-Wall -Wextra -Wstrict-prototypes -Wmissing-prototypes],
        [ADM_TRY_CFLAG(adm_flag)])
    dnl One symbol is exported, so calls within a file need not go through the
    dnl linker's table, and can be inlined.
    ADM_TRY_CFLAG([-fno-semantic-interposition])
    dnl clang: APR_RING_SENTINEL subtracts from a null pointer up to APR 1.7.2.
    ADM_TRY_CFLAG([-Wno-null-pointer-subtraction])
    dnl gcc on 32-bit x86: only this module's own processes share its structs.
    ADM_TRY_CFLAG([-Wno-psabi])
    ADM_SAME_NUMBERS
    AS_IF([test "$enable_werror" = yes], [
        m4_foreach_w([adm_flag],
            [-Wshadow -Wundef -Wvla -Wformat=2 -Wpointer-arith -Wunused-macros
             -Wwrite-strings -Wlogical-op -Wduplicated-cond -Wduplicated-branches],
            [ADM_TRY_CFLAG(adm_flag)])
        ADM_CFLAGS="$ADM_CFLAGS -Werror"
    ])
    AC_SUBST([ADM_CFLAGS])

    dnl Tests share one list of libraries; each links what it uses of it.
    AC_MSG_CHECKING([whether the linker knows --as-needed])
    adm_save_LDFLAGS=$LDFLAGS
    LDFLAGS="$LDFLAGS -Wl,--as-needed"
    AC_LINK_IFELSE([AC_LANG_PROGRAM()],
        [AC_MSG_RESULT([yes]); ADM_LDFLAGS=-Wl,--as-needed],
        [AC_MSG_RESULT([no])])
    LDFLAGS=$adm_save_LDFLAGS
    AC_SUBST([ADM_LDFLAGS])
])

dnl ADM_SANITIZER(switch, flag): one --enable switch.
AC_DEFUN([ADM_SANITIZER], [
    AC_ARG_ENABLE([$1], [AS_HELP_STRING([--enable-$1], [build with -fsanitize=$2])])
    AS_IF([test "$enable_$1" = yes],
        [adm_sanitizers="${adm_sanitizers:+$adm_sanitizers,}$2"])
])

dnl ADM_FIND_RUNTIME(name): sets HTTPD_PRELOAD to the shared runtime of the
dnl compiler. -print-file-name answers with the bare name where it has none.
AC_DEFUN([ADM_FIND_RUNTIME], [
    for adm_name in libclang_rt.$1-$host_cpu.so lib$1.so; do
        adm_path=`$CC -print-file-name=$adm_name`
        AS_IF([test -f "$adm_path"], [HTTPD_PRELOAD=$adm_path; break])
    done
])

dnl ADM_SANITIZERS: httpd itself is built without them, so it must load their
dnl runtime first: the tests run TEST_HTTPD.
AC_DEFUN([ADM_SANITIZERS], [
    adm_sanitizers=
    ADM_SANITIZER([asan], [address])
    ADM_SANITIZER([ubsan], [undefined])
    ADM_SANITIZER([tsan], [thread])
    AS_IF([test "$enable_asan$enable_tsan" = yesyes],
        [AC_MSG_ERROR([--enable-asan and --enable-tsan exclude each other])])
    AS_IF([test -n "$adm_sanitizers"], [
        adm_flags="-fsanitize=$adm_sanitizers -fno-omit-frame-pointer"
        AS_IF([test "$enable_ubsan" = yes],
            [adm_flags="$adm_flags -fno-sanitize-recover=undefined"])
        dnl Fortified functions are not the ones that the sanitizers watch.
        adm_flags="$adm_flags -U_FORTIFY_SOURCE"

        adm_save_CFLAGS=$CFLAGS
        CFLAGS="$CFLAGS $adm_flags"
        AC_LINK_IFELSE([AC_LANG_PROGRAM()], [],
            [AC_MSG_ERROR([$CC cannot link with -fsanitize=$adm_sanitizers])])
        CFLAGS=$adm_save_CFLAGS
        ADM_SANITIZE=$adm_flags
    ])
    AC_SUBST([ADM_SANITIZE])
    HTTPD_PRELOAD=
    AS_CASE([$adm_sanitizers],
        [address*], [ADM_FIND_RUNTIME([asan])],
        [*thread], [ADM_FIND_RUNTIME([tsan])],
        [undefined], [ADM_FIND_RUNTIME([ubsan])])
    AC_SUBST([HTTPD_PRELOAD])
    AC_SUBST([TEST_HTTPD], [$HTTPD])
    AS_IF([test -n "$HTTPD_PRELOAD"],
        [TEST_HTTPD='$(abs_top_srcdir)/tools/httpd-preloaded'])
])

dnl ADM_PLATFORM: what the core needs of the system; sets ADM_DEFINES.
AC_DEFUN([ADM_PLATFORM], [
    AC_MSG_CHECKING([for Linux])
    AC_PREPROC_IFELSE([AC_LANG_SOURCE([[
            #ifndef __linux__
            #error another system
            #endif]])],
        [AC_MSG_RESULT([yes])],
        [AC_MSG_RESULT([no])
         AC_MSG_ERROR([mod_admission needs Linux: futexes, epoll and /proc])])

    dnl A link test: PTHREAD_MUTEX_ROBUST is an enum on glibc, which an #ifdef
    dnl would never find.
    AC_MSG_CHECKING([for robust mutexes])
    adm_save_LIBS=$LIBS
    LIBS="$LIBS -lpthread"
    AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <pthread.h>]], [[
            pthread_mutexattr_t attributes;
            pthread_mutex_t mutex;
            pthread_mutexattr_init(&attributes);
            pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
            pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
            pthread_mutex_init(&mutex, &attributes);
            return pthread_mutex_consistent(&mutex);]])],
        [AC_MSG_RESULT([yes])],
        [AC_MSG_RESULT([no])
         AC_MSG_ERROR([no robust mutexes: a killed child could stop the server])])
    LIBS=$adm_save_LIBS

    ADM_DEFINES=
    dnl glibc 2.30. Else a wait for a lock counts on the clock of the day. ThreadSanitizer
    dnl of GCC 12 does not see that this takes the lock.
    AC_MSG_CHECKING([for pthread_mutex_clocklock])
    adm_save_LIBS=$LIBS
    LIBS="$LIBS -lpthread"
    AC_LINK_IFELSE([AC_LANG_PROGRAM([[
            #define _GNU_SOURCE
            #include <pthread.h>
            #include <time.h>]], [[
            pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
            struct timespec at = { 0, 0 };
            return pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &at);]])],
        [AS_IF([test "$enable_tsan" = yes],
            [AC_MSG_RESULT([not with ThreadSanitizer])],
            [AC_MSG_RESULT([yes])
             ADM_DEFINES="$ADM_DEFINES -DADM_HAVE_CLOCKLOCK"])],
        [AC_MSG_RESULT([no])])
    LIBS=$adm_save_LIBS
    AC_SUBST([ADM_DEFINES])
])

dnl ADM_COVERAGE: counters of gcov in all objects. Atomic, because threads share them.
AC_DEFUN([ADM_COVERAGE], [
    AC_ARG_ENABLE([coverage],
        [AS_HELP_STRING([--enable-coverage], [count executed lines, for make coverage])])
    AS_IF([test "$enable_coverage" = yes],
        [ADM_SANITIZE="$ADM_SANITIZE --coverage -fprofile-update=atomic -O0"])
])
