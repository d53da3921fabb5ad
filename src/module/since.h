/* since.h - features that older versions of httpd lack.
 *
 * The only file that compares version numbers, which are httpd's module magic
 * numbers (ap_mmn.h).
 */
#ifndef MODULE_SINCE_H
#define MODULE_SINCE_H

#include <ap_mmn.h>

/* t/guards/older_httpd.h sets this, to build the module as for httpd 2.4.37. */
#ifdef ADMISSION_AS_OLDEST
#define ADMISSION_SINCE(minor) 0
#else
#define ADMISSION_SINCE(minor) AP_MODULE_MAGIC_AT_LEAST(20120211, minor)
#endif

/** In the state of write completion, event also polls for what a connection
 *  wants to read, not only for unsent data: httpd 2.4.41. */
#define ADMISSION_WAITS_BY_SENSE ADMISSION_SINCE(88)

/** ap_hook_child_stopping(): httpd 2.4.49. */
#define ADMISSION_HAS_CHILD_STOPPING ADMISSION_SINCE(110)

/** conn_rec.outgoing, which marks connections to backends: httpd 2.4.49. */
#define ADMISSION_HAS_OUTGOING ADMISSION_SINCE(116)

/** CONN_STATE_ASYNC_WAITIO: httpd 2.4.63. */
#define ADMISSION_HAS_WAITIO ADMISSION_SINCE(137)

/** CONN_STATE_WRITE_COMPLETION can wait for reading: all of 2.4, not trunk. */
#define ADMISSION_HAS_COMPLETION (MODULE_MAGIC_NUMBER_MAJOR == 20120211)

#endif
