/* mod_admission_private.h - what the files of the module share.
 *
 * Each file turns some of httpd's events into calls of the core (adm.h); which
 * hook leads where is in mod_admission.c. Nothing here is for other modules.
 */
#ifndef MOD_ADMISSION_PRIVATE_H
#define MOD_ADMISSION_PRIVATE_H

#include <httpd.h>
#include <http_config.h>
#include <http_log.h>

#include <ap_expr.h>
#include <mpm_common.h>
#include <unixd.h>

#include "adm.h"

extern module AP_MODULE_DECLARE_DATA admission_module;

/* One number a call site, never used again; docs/log-messages.md has them. */
#define ADMLOGNO(n) "ADM" #n ": "

/* ---- configuration (mod_admission_config.c) --------------------------------- */

/** A zone of this configuration. */
typedef struct admission_zone_t {
    const char *name;
    const char *place; /* file:line of the MaxConcurrent that made it */
    int limit;
    int queue_length; /* where no request says otherwise */
    apr_interval_time_t queue_timeout;
    int says_queue; /* one of its sections does, not only their surroundings */
    int dry_run;
    adm_zone_t handle; /* idx 0: the zone table was full */
} admission_zone_t;

/** MaxConcurrent and AdmissionZone of one section: shared by all that inherit
 *  them. */
typedef struct admission_limit_t {
    int number;            /* 0: off; ADMISSION_NO_NUMBER: only AdmissionZone */
    const char *zone_name; /* of AdmissionZone; NULL: the section's own */
    const char *place;     /* file:line of MaxConcurrent, else AdmissionZone */
    const char *section;   /* as in the zone's name; NULL: no usable one */
    int is_regex;          /* it has a regular expression in it */
    int is_ambiguous;      /* another one of the server has the same: no name */
    const server_rec *server;
    const struct admission_dir_conf_t *own; /* what the section says besides */
    admission_zone_t *zone; /* set by admission_check_config() */
} admission_limit_t;

#define ADMISSION_NO_NUMBER (-1)

typedef enum admission_retry_t {
    ADMISSION_RETRY_UNSET = -1,
    ADMISSION_RETRY_AUTO,
    ADMISSION_RETRY_OFF,
    ADMISSION_RETRY_FIXED
} admission_retry_t;

/** Per-directory configuration. Merging copies pointers and numbers only. */
typedef struct admission_dir_conf_t {
    admission_limit_t *limit;           /* NULL: unset */
    int queue_length;                   /* -1: unset */
    apr_interval_time_t queue_timeout;  /* -1: unset */
    const apr_array_header_t *handlers; /* of const char *; NULL: unset */
    const ap_expr_info_t *exempt;       /* NULL: unset */
    int reject_status;                  /* -1: unset */
    admission_retry_t retry;
    int retry_seconds; /* of ADMISSION_RETRY_FIXED */
    int dry_run;       /* -1: unset */
} admission_dir_conf_t;

/** Of the main server. */
typedef struct admission_server_conf_t {
    int reserve; /* -1: unset */
    int reserve_is_percent;
    int parking;     /* -1: unset */
    int recycle_min; /* connections; 0: off */
    int recycle_max;
    int recycle_together; /* -1: unset */
} admission_server_conf_t;

extern const command_rec admission_directives[];

void *admission_create_dir_conf(apr_pool_t *p, char *path);
void *admission_merge_dir_conf(apr_pool_t *p, void *base, void *add);
void *admission_create_server_conf(apr_pool_t *p, server_rec *s);

/** @return the zone of this configuration; NULL where nothing is limited. */
admission_zone_t *admission_zone_of(const admission_dir_conf_t *conf);

int admission_queue_length(const admission_dir_conf_t *conf);
apr_interval_time_t admission_queue_timeout(const admission_dir_conf_t *conf);
int admission_reject_status(const admission_dir_conf_t *conf);
int admission_is_dry_run(const admission_dir_conf_t *conf);

/** @return whether a request with this handler counts. */
int admission_counts(const admission_dir_conf_t *conf, request_rec *r);

/** @return whether a handler of this name is the media type of a file, and not
 *  the name of something that runs. */
int admission_is_media_type(const char *name);

/** The zones of this configuration, in the order of the files; of
 *  admission_zone_t *. Complete after admission_check_config(). */
const apr_array_header_t *admission_zones(void);

/** How many of @a workers zones may not occupy. */
int admission_reserved_workers(server_rec *s, int workers);

/** The same share of this many @a threads as of all workers, but at least one. */
int admission_reserved_share(server_rec *s, int threads);

/** @return whether AdmissionParking is On. */
int admission_parking_is_on(server_rec *s);

/** A number that another module's directive says; @a otherwise where none. */
double admission_number_of(const char *directive, double otherwise);

/* mod_admission_zones.c */

/** @return file:line of the directive. */
const char *admission_place_of(const cmd_parms *cmd);

/** Note where a directive that concerns the zone itself stands. @return what is
 *  known of this section's zone, for the directive to fill in. */
admission_limit_t *admission_note_limit(cmd_parms *cmd,
                                        admission_dir_conf_t *conf);

int admission_pre_config(apr_pool_t *pconf, apr_pool_t *plog,
                         apr_pool_t *ptemp);
int admission_check_config(apr_pool_t *pconf, apr_pool_t *plog,
                           apr_pool_t *ptemp, server_rec *s);
void admission_dump_config(apr_pool_t *pconf, server_rec *s);

/* mod_admission_include.c */

/** From now on requests whose output goes through mod_include are known. */
void admission_include_post_config(void);

/** @return whether mod_include may start programs while it sends the answer.
 *  Only in handlers. */
int admission_may_exec(request_rec *r);

/* mod_admission_said.c */

/** The handler of the status pages. */
#define ADMISSION_STATUS_HANDLER "admission-status"

int admission_said_check_config(apr_pool_t *pconf, apr_pool_t *plog,
                                apr_pool_t *ptemp, server_rec *s);

/** @return whether a SetHandler of the configuration, not of .htaccess, makes
 *  this request one for the status pages. */
int admission_is_status_open(const request_rec *r);

/** Log a warning for each name of AdmissionHandlers that is nobody's, and for
 *  directives that have no zone. */
void admission_warn_of_directives(apr_pool_t *p, server_rec *s);

/* ---- the segment and this child (mod_admission_lifecycle.c) ------------------- */

/** @return this process in the segment; NULL when nothing can be counted. A
 *  process that was forked from a child to serve a request is registered when
 *  it first asks. */
adm_child_t *admission_child(void);

/** @return the segment; NULL before post_config. */
adm_segment_t *admission_segment(void);

/** How many requests the server can run at once. */
int admission_server_workers(void);

int admission_post_config(apr_pool_t *pconf, apr_pool_t *plog,
                          apr_pool_t *ptemp, server_rec *s);

/** `configtest`: give the warnings of a start, unless zones are to be listed. */
void admission_test_config(apr_pool_t *pconf, server_rec *s);
void admission_child_init(apr_pool_t *pchild, server_rec *s);
void admission_child_status(server_rec *s, pid_t pid, ap_generation_t gen,
                            int slot, mpm_child_status status);
void admission_child_stopping(apr_pool_t *pchild, int graceful);

/* ---- warnings at start (mod_admission_surroundings.c) ---------------------------- */

/** The parent, for each configuration, when the zones are known. */
void admission_surroundings_post_config(apr_pool_t *pconf, apr_pool_t *ptemp,
                                        server_rec *s);

/** A new child, with its privileges dropped. */
void admission_surroundings_child_init(server_rec *s);

/* ---- one request (mod_admission_request.c) ------------------------------------- */

/** A request's stay in a zone. Lives in the connection's pool and is used
 *  again for later requests: it may end after the request's own pool. */
typedef struct admission_visit_t {
    adm_ticket_t ticket;
    const admission_zone_t *zone;
    const request_rec *root; /* the request that the client sent; compared, not
                              * followed: the ticket may outlive it */
    struct admission_parking_t *parking; /* NULL: never parked */
    struct admission_visit_t *next;      /* of the connection's */
} admission_visit_t;

/** What is known of one request_rec. In its request_config. */
typedef struct admission_request_t {
    admission_zone_t *zone;
    admission_visit_t *visit; /* its own or an ancestor's; NULL: none */
    int was_rejected;
    int counts_for_http2; /* admission_http2_leave() is due */
} admission_request_t;

/** @return what is known of this very request_rec; NULL: nothing. */
admission_request_t *admission_request_of(const request_rec *r);

/** @return the visit with whose permit this request runs. */
admission_visit_t *admission_visit_of(const request_rec *r);

int admission_handler(request_rec *r);

/** All visits of a connection, of which some may have ended. */
admission_visit_t *admission_visits_of(const conn_rec *c);

/* ---- what is told of a request (mod_admission_notes.c) ---------------------------- */

#define ADMISSION_NOTE_STATUS "ADMISSION_STATUS"
#define ADMISSION_NOTE_WAIT_MS "ADMISSION_WAIT_MS"
#define ADMISSION_NOTE_ZONE "ADMISSION_ZONE"
#define ADMISSION_NOTE_QUEUED "ADMISSION_QUEUED"
#define ADMISSION_NOTE_RETRY_AFTER "ADMISSION_RETRY_AFTER"

/** Set a note; @a value is not copied. */
void admission_note(request_rec *r, const char *name, const char *value);
void admission_note_number(request_rec *r, const char *name,
                           apr_int64_t number);

/** Make the notes in @a to those of @a from; also into an environment. */
void admission_copy_notes(apr_table_t *to, const apr_table_t *from);

int admission_log_transaction(request_rec *r);

/* ---- waiting: mod_admission_block.c with, _park.c without a worker ------------------ */

/** Wait for the permit and hold the worker meanwhile. The ticket has ended
 *  unless the outcome is ADM_WAITED. */
adm_outcome_t admission_block(request_rec *r, adm_ticket_t *ticket,
                              adm_usec_t deadline);

/** @return whether nobody is there any more to read the answer. */
int admission_client_has_gone(const request_rec *r);

/** @return whether the request is the last of its connection, as its client
 *  says: then the client may close its sending side and go on reading. */
int admission_may_half_close(const request_rec *r);

/** Go on with a request whose wait has ended: run it with its permit, or say
 *  why not. @return what a handler returns. */
int admission_after_wait(request_rec *r, adm_outcome_t outcome,
                         adm_usec_t began);

/** @return whether requests of this server wait without a worker at all. */
int admission_parks(void);

/** Where requests park, let so few wait that the MPM goes on accepting
 *  connections for others. A new child, once. */
void admission_park_limit_connections(server_rec *s, adm_child_t *child);

/** How many requests can be parked at once, by the sizes of the server and the
 *  limit of open files. */
typedef struct admission_room_t {
    int children; /* at most */
    int children_at_start;
    apr_int64_t requests; /* in all these children */
    apr_int64_t requests_at_start;
} admission_room_t;

/** @return whether the MPM can wait for a client without a worker. */
int admission_mpm_parks(void);

/** Raise what the MPM accepts, where the administrator leaves it to us, before
 *  the configuration is processed; and say so (mod_admission_room.c). */
void admission_room_pre_config(apr_pool_t *pconf);
void admission_room_post_config(server_rec *s);

/** @return the room of this server; nothing where requests do not park. */
admission_room_t admission_room(server_rec *s);

/** @return the same, before the server runs. */
int admission_would_park(server_rec *s);

/** @return whether this request may: if not, it blocks. */
int admission_may_park(request_rec *r);

/** Prepare the wait without a worker. @return SUSPENDED, for the handler to
 *  return, or DECLINED when it cannot be done and the ticket must block. */
int admission_park(request_rec *r, admission_visit_t *visit,
                   adm_usec_t deadline);

/** The visit ends with its connection: forget where it was parked. */
void admission_park_forget(admission_visit_t *visit);

int admission_process_connection(conn_rec *c);
void admission_suspend_connection(conn_rec *c, request_rec *r);
void admission_resume_connection(conn_rec *c, request_rec *r);
void admission_park_post_config(server_rec *s);

/** Log a warning if the queues are longer than what can be parked. Also before
 *  the server runs. */
void admission_park_warn(server_rec *s);
void admission_park_child_init(apr_pool_t *pchild, server_rec *s);

/** HTTP/2 streams run on threads of mod_http2: as many of them as may visit
 *  zones at once are counted here. Balanced by admission_http2_leave(). */
int admission_http2_enter(void);
void admission_http2_leave(void);
void admission_http2_child_init(server_rec *s);

/** @return how many streams of one child may be in zones at once, running and
 *  waiting ones together. After the parent has counted its workers. */
int admission_http2_room(server_rec *s);

/* ---- programs (mod_admission_program.c) -------------------------------------------- */

void admission_register_filter(void);

ap_unix_identity_t *admission_program_starts(const request_rec *r);

/** Put the ticket's token into the environment of what the request starts. */
void admission_export_token(request_rec *r, const adm_ticket_t *ticket);

/** The handler has returned @a rv: release at once, or as soon as the program that
 *  it started has ended. @return whether it was released at once. */
int admission_release_after_handler(request_rec *r, adm_ticket_t *ticket,
                                    int rv);

/** The request has been destroyed, and with it what httpd could end. */
void admission_release_after_request(adm_ticket_t *ticket);

/* ---- recycling (mod_admission_recycle.c) ------------------------------------------------ */

void admission_recycle_post_config(server_rec *s);
void admission_recycle_child_init(server_rec *s);
void admission_recycle_child_ready(apr_pool_t *pchild, server_rec *s);
int admission_recycle_pre_connection(conn_rec *c, void *socket);

/* ---- what an administrator sees (mod_admission_status.c) ----------------------------- */

/** server-status: HTML table, ?auto. */
int admission_status(request_rec *r, int flags);

/** What the administrator typed, as UTF-8: what is not, is read as ISO-8859-1,
 *  as httpd's own pages do. @return @a text itself where it is UTF-8. */
const char *admission_utf8(apr_pool_t *p, const char *text);

/** SetHandler admission-status: the live page (mod_admission_page.c), ?json
 *  and ?prometheus (mod_admission_export.c). */
int admission_status_handler(request_rec *r);

/** @param only  the zone that is asked for; NULL: all */
int admission_write_json(request_rec *r, const admission_zone_t *only,
                         int with_history);
int admission_write_metrics(request_rec *r, const admission_zone_t *only);

#endif
