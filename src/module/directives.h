/* directives.h - the table of directives. */
#ifndef MODULE_DIRECTIVES_H
#define MODULE_DIRECTIVES_H

#include <http_config.h>

extern const command_rec admission_directives[];

#endif
