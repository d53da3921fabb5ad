/* mod_admission_directives.h - the table of directives. */
#ifndef MOD_ADMISSION_DIRECTIVES_H
#define MOD_ADMISSION_DIRECTIVES_H

#include <http_config.h>

extern const command_rec admission_directives[];

#endif
