/* law_fleet.h - the server's side of the protocol that shares a limit.
 * Called by fleet_duty.
 *
 * For one zone of one server: when to send a sync, its content, and which replies and
 * pushes to accept. docs/dev/fleet.md has the rules, R1 to R16. Pure functions: no
 * clock, no lock, no system call. Times are microseconds of a clock that also counts
 * while the system sleeps; the engine's times (engine_msec) are milliseconds of its
 * own clock.
 */
#ifndef LAW_FLEET_H
#define LAW_FLEET_H

#include <stdbool.h>
#include <stdint.h>

/** The configured terms. */
typedef struct law_fleet_terms_t {
    uint32_t limit;     /* of all servers together */
    int64_t lease_usec; /* at least 3 s */
    int64_t hold_usec;  /* grace period; longer than any request runs */
} law_fleet_terms_t;

/** Current state of the zone in this server. */
typedef struct law_fleet_work_t {
    uint32_t share;       /* permits it may use; 0 after the lease */
    uint32_t active;      /* permits in use */
    uint32_t queued;      /* waiting requests */
    uint32_t other_limit; /* lowest of the zone's other limits */
    int64_t oldest_usec;  /* wait of the first request in the queue */
    int64_t longest_usec; /* longest service time */
} law_fleet_work_t;

/** Size of a server's name, such as its host name, with the final NUL. */
#define LAW_FLEET_NAME 48

/** A server's id: 128 random bits in hexadecimal digits. */
#define LAW_FLEET_ID_LENGTH 32

/** Identity of a server. */
typedef struct law_fleet_self_t {
    char id[LAW_FLEET_ID_LENGTH + 1];
    char predecessor[LAW_FLEET_ID_LENGTH + 1]; /* R15; "": none */
    char name[LAW_FLEET_NAME];                 /* for the outputs only */
} law_fleet_self_t;

/** A sync, the only operation of the engine. */
typedef struct law_fleet_sync_t {
    uint64_t sequence;   /* R4 */
    int64_t gen_seen;    /* R3 */
    uint32_t has;        /* R1: permits that the server will not exceed */
    uint32_t want;       /* permits that it could use */
    int64_t oldest_msec; /* wait of the first request; -1: none waits */
    law_fleet_terms_t terms;
    int64_t engine_msec; /* R5: last time received from the engine, */
    int64_t age_msec;    /* and how long ago */
    int64_t span_msec;   /* R16: last value received */
    bool leaves;         /* the server stops */
    bool asks_who;       /* request the list of servers */
} law_fleet_sync_t;

typedef enum law_fleet_status_t {
    LAW_FLEET_OK,
    LAW_FLEET_LATE,  /* R5: the sync was ignored */
    LAW_FLEET_STALE, /* R4: the engine has seen a later sync */
    LAW_FLEET_BYE    /* the server was removed, as it asked to be */
} law_fleet_status_t;

/** One server that shares a limit, for the outputs. */
typedef struct law_fleet_server_t {
    char name[LAW_FLEET_NAME];
    uint32_t granted;
    uint32_t target;
    uint32_t wanted;
    uint32_t silent_msec; /* since its last sync */
} law_fleet_server_t;

/** Maximum length of the list of servers. */
#define LAW_FLEET_SERVERS 32

/** The servers that share a limit, this server first. */
typedef struct law_fleet_who_t {
    uint32_t count; /* 0: no list */
    law_fleet_server_t servers[LAW_FLEET_SERVERS];
} law_fleet_who_t;

/** Reply to a sync. */
typedef struct law_fleet_reply_t {
    law_fleet_status_t status;
    int64_t engine_msec;
    int64_t gen;
    uint32_t granted;
    uint32_t target;
    uint32_t servers;
    uint32_t reserved;
    uint32_t wanted;
    int64_t learning_msec;
    uint32_t limit;    /* lowest of all servers */
    bool is_tight;     /* servers must not keep idle permits now */
    bool is_short;     /* this server wants more than its share */
    int64_t span_msec; /* R16: the longest lease and hold of all servers */
    uint64_t sequence; /* LAW_FLEET_STALE: of the later sync */
} law_fleet_reply_t;

/** A push: a change of the grant that this server did not ask for. */
typedef struct law_fleet_push_t {
    int64_t gen;
    uint32_t granted;
    uint32_t target;
    bool is_tight;
} law_fleet_push_t;

/** The share that a zone of this server has from now on. */
typedef struct law_fleet_share_t {
    uint32_t share;     /* LAW_FLEET_AS_BEFORE: only the lease changes */
    int64_t until_usec; /* end of the lease */
} law_fleet_share_t;

#define LAW_FLEET_AS_BEFORE UINT32_MAX

/** State of the protocol for one zone. */
typedef struct law_fleet_t {
    uint64_t sequence;
    int64_t gen;      /* the last one received in this run */
    uint32_t granted; /* the last value received */
    bool has_reply;   /* R9: received a reply in this run */
    bool is_tight, is_short;
    int64_t engine_msec, engine_at; /* at: when it was received */
    int64_t span_msec;              /* R16 */
    int64_t sent_at;   /* of the sync without a reply; 0: all have one */
    int64_t synced_at; /* of the last sync; 0: a sync is due */
    int64_t until;     /* end of the lease */
    uint32_t sent_has, sent_want, sent_queued; /* in the last sync */
    int64_t idle_since; /* no request runs or waits since; 0: one does */
    unsigned futile;    /* consecutive syncs with the same content that
                         * changed nothing */
} law_fleet_t;

/** Initialize. The sequence starts at @a now, which must be later than in any earlier
 *  agent of this server, or the engine would reject the syncs (R4). */
void law_fleet_begin(law_fleet_t *fleet, int64_t now);

/** The zone can sync. @a is_new_run: the engine's run is not the previous one.
 *  @a engine_msec: the engine's time, received at @a now. */
void law_fleet_connected(law_fleet_t *fleet, bool is_new_run,
                         int64_t engine_msec, int64_t now);

/** The zone cannot sync any more. A sync that was sent gets no reply, but the engine
 *  might still execute it. */
void law_fleet_lost(law_fleet_t *fleet);

/** @return how many permits of its share to keep, at least those in use; the next sync
 *  returns the others. LAW_FLEET_AS_BEFORE: keep all. */
uint32_t law_fleet_keep(law_fleet_t *fleet, const law_fleet_work_t *work,
                        int64_t now);

/** @return when the next sync is due; @a now or earlier: immediately. */
int64_t law_fleet_due(const law_fleet_t *fleet, const law_fleet_terms_t *terms,
                      const law_fleet_work_t *work, int64_t now);

/** Fill in a sync. R1: @a work must be one consistent copy, made under the zone's lock
 *  after the share was stored, so that no request starts beyond the promise. */
void law_fleet_fill_sync(law_fleet_t *fleet, const law_fleet_terms_t *terms,
                         const law_fleet_work_t *work, bool leaves, int64_t now,
                         law_fleet_sync_t *sync);

/** Process the reply to the last sync. @return whether @a share was filled in and must
 *  be applied. */
bool law_fleet_accept_reply(law_fleet_t *fleet, const law_fleet_terms_t *terms,
                            const law_fleet_reply_t *reply, int64_t now,
                            law_fleet_share_t *share);

/** Process a push of the connected run. @return as law_fleet_accept_reply(). */
bool law_fleet_accept_push(law_fleet_t *fleet, const law_fleet_terms_t *terms,
                           const law_fleet_push_t *push, int64_t now,
                           law_fleet_share_t *share);

#endif
