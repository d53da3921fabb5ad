dnl ADM_PART(name): --without-name leaves out the capability of src/name.
AC_DEFUN([ADM_PART], [
    AC_ARG_WITH([$1], [AS_HELP_STRING([--without-$1], [leave out $2])],
        [], [with_$1=yes])
    AS_IF([test "$with_$1" = no],
        [ADM_PARTS_DEFINES="$ADM_PARTS_DEFINES -DADMISSION_WITHOUT_[]m4_toupper([$1])"
         adm_left_out="$adm_left_out $1"])
    AM_CONDITIONAL([WITH_]m4_toupper([$1]), [test "$with_$1" != no])
])

dnl ADM_PARTS: a line for each row of src/parts.h.
AC_DEFUN([ADM_PARTS], [
    ADM_PARTS_DEFINES=
    adm_left_out=
    ADM_PART([auto], [MaxConcurrent auto])
    ADM_PART([explain], [the output ?explain=URL])
    ADM_PART([fleet], [limits shared by several servers, and Redis])
    ADM_PART([recycle], [AdmissionRecycle])
    ADM_PART([spool], [AdmissionSpool])
    AC_SUBST([ADM_PARTS_DEFINES])
])
