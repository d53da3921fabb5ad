/* private_file.h - files that the parent keeps over stop and start. */
#ifndef MODULE_PRIVATE_FILE_H
#define MODULE_PRIVATE_FILE_H

/** Open it for reading and writing; made if there is none. Programs do not inherit it.
 *
 * @return the descriptor; -1: errno says why. */
int admission_private_file_open(const char *path);

#endif
