/* private_file.h - files of the parent that survive a stop and start. */
#ifndef MODULE_PRIVATE_FILE_H
#define MODULE_PRIVATE_FILE_H

/**
 * Open the file for reading and writing, and create it if it does not exist.
 * Programs do not inherit the descriptor.
 *
 * @return the descriptor; -1: failed, see errno.
 */
int admission_private_file_open(const char *path);

#endif
