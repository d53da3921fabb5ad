/* law_fleet.h - a server's part of a limit that an engine shares out.
 * Called by src/agent.
 *
 * One zone of one server: what to tell the engine and when, and what to believe of
 * its answers. docs/dev/fleet.md has the rules, R1 to R16. Times are microseconds on a
 * clock that also counts while the system sleeps; those of the engine milliseconds on
 * its own.
 */
#ifndef LAW_FLEET_H
#define LAW_FLEET_H

#include <stdbool.h>
#include <stdint.h>

/** What the configuration says. */
typedef struct law_fleet_terms_t {
    uint32_t limit;     /* of all servers */
    int64_t lease_usec; /* at least 3 s */
    int64_t hold_usec;  /* longer than a request runs */
} law_fleet_terms_t;

/** What the server does just now. */
typedef struct law_fleet_work_t {
    uint32_t share;       /* what it may use; 0 once its lease is over */
    uint32_t active;      /* permits that are out */
    uint32_t queued;      /* who waits */
    uint32_t most;        /* what it could use at once: its other limits */
    int64_t oldest_usec;  /* how long the first of these has waited */
    int64_t longest_usec; /* that a request ever took */
} law_fleet_work_t;

/** Room for what people call a server, such as its host name. */
#define LAW_FLEET_NAME 48

/** A server's id: 128 random bits in hexadecimal digits. */
#define LAW_FLEET_ID_LENGTH 32

/** Who a server is. */
typedef struct law_fleet_self_t {
    char id[LAW_FLEET_ID_LENGTH + 1];
    char
        predecessor[LAW_FLEET_ID_LENGTH + 1]; /* whose processes have all ended:
                                                * what it had is free; "": none */
    char name[LAW_FLEET_NAME];                /* for people; decides nothing */
} law_fleet_self_t;

/** What is told to the engine: one operation. */
typedef struct law_fleet_sync_t {
    uint64_t sequence;   /* R4 */
    int64_t gen_seen;    /* R3 */
    uint32_t has;        /* R1: what it promises not to exceed */
    uint32_t want;       /* what it could use */
    int64_t oldest_msec; /* how long the first has waited; -1: nobody waits */
    law_fleet_terms_t terms;
    int64_t engine_msec; /* R5: the last time of the engine that was heard, */
    int64_t age_msec;    /* and how long ago */
    int64_t span_msec;   /* R16: as the engine said it last */
    bool leaves;         /* the server ends */
    bool asks_who;       /* it wants to hear of the others */
} law_fleet_sync_t;

typedef enum law_fleet_answer_t {
    LAW_FLEET_OK,
    LAW_FLEET_LATE,  /* R5: nothing was believed */
    LAW_FLEET_STALE, /* R4: a later one was there before */
    LAW_FLEET_BYE    /* it is known no more */
} law_fleet_answer_t;

/** One of those that share a limit, to be shown. */
typedef struct law_fleet_server_t {
    char name[LAW_FLEET_NAME];
    uint32_t granted;
    uint32_t target;
    uint32_t wanted;
    uint32_t silent_msec; /* since it last spoke */
} law_fleet_server_t;

/** So many are told of at most. */
#define LAW_FLEET_SERVERS 32

/** All of them, the first is the one that asked. */
typedef struct law_fleet_who_t {
    uint32_t count; /* 0: not told */
    law_fleet_server_t servers[LAW_FLEET_SERVERS];
} law_fleet_who_t;

/** What the engine answers. */
typedef struct law_fleet_reply_t {
    law_fleet_answer_t answer;
    int64_t engine_msec;
    int64_t gen;
    uint32_t granted;
    uint32_t target;
    uint32_t servers;
    uint32_t reserved;
    uint32_t wanted;
    int64_t learning_msec;
    uint32_t limit;    /* the least that any server states */
    bool is_tight;     /* nobody keeps an idle permit now */
    bool is_short;     /* it wants more than there is for it */
    int64_t span_msec; /* R16: the longest lease and hold of all servers */
    uint64_t sequence; /* LAW_FLEET_STALE: the later one */
} law_fleet_reply_t;

/** What the engine tells unasked. */
typedef struct law_fleet_push_t {
    int64_t gen;
    uint32_t granted;
    uint32_t target;
    bool is_tight;
} law_fleet_push_t;

/** What a zone of this server may use from now on. */
typedef struct law_fleet_share_t {
    uint32_t share;     /* LAW_FLEET_AS_BEFORE */
    int64_t until_usec; /* the end of the lease */
} law_fleet_share_t;

#define LAW_FLEET_AS_BEFORE UINT32_MAX

/** Memory of one zone of this server. */
typedef struct law_fleet_t {
    uint64_t sequence;
    int64_t gen;      /* the last one seen in this run */
    uint32_t granted; /* as far as is known */
    bool has_heard;   /* R9: a reply in this run */
    bool is_tight, is_short;
    int64_t engine_msec, engine_at; /* at: when it was heard */
    int64_t span_msec;              /* R16 */
    int64_t sent_at;   /* of the sync that is not answered; 0: none is */
    int64_t synced_at; /* the last one */
    int64_t until;     /* end of the lease */
    uint32_t told_has, told_want, told_queued;
    int64_t idle_since; /* nobody ran or waited since; 0: somebody does */
    unsigned futile;    /* syncs in a row that said the same, and changed
                         * nothing */
} law_fleet_t;

/** Nothing is known yet. @a now begins the sequence: it must be later than in any
 *  process that spoke for this server before. */
void law_fleet_begin(law_fleet_t *fleet, int64_t now);

/** There is a connection. @a is_new_run: to another run of the engine than the one
 *  before. @a engine_msec is the engine's time, heard @a now. */
void law_fleet_connected(law_fleet_t *fleet, bool is_new_run,
                         int64_t engine_msec, int64_t now);

/** There is none any more: what was sent may still be executed, its answer is lost. */
void law_fleet_lost(law_fleet_t *fleet);

/** @return how much of its share the server keeps, if that is more than what runs: the
 *  rest is given back with the next sync. LAW_FLEET_AS_BEFORE: all. */
uint32_t law_fleet_keep(law_fleet_t *fleet, const law_fleet_work_t *work,
                        int64_t now);

/** @return when the next sync is due; @a now or before: at once. */
int64_t law_fleet_due(const law_fleet_t *fleet, const law_fleet_terms_t *terms,
                      const law_fleet_work_t *work, int64_t now);

/** Make a sync. R1: @a work must have been read at once, under the zone's lock, after
 *  the share was stored; what runs later stays below it. */
void law_fleet_tell(law_fleet_t *fleet, const law_fleet_terms_t *terms,
                    const law_fleet_work_t *work, bool leaves, int64_t now,
                    law_fleet_sync_t *sync);

/** The answer to the last sync. @return whether @a share holds now; if not, nothing
 *  has changed. */
bool law_fleet_hear(law_fleet_t *fleet, const law_fleet_terms_t *terms,
                    const law_fleet_reply_t *reply, int64_t now,
                    law_fleet_share_t *share);

/** Something unasked, of the same run. @return as law_fleet_hear(). */
bool law_fleet_hear_push(law_fleet_t *fleet, const law_fleet_terms_t *terms,
                         const law_fleet_push_t *push, int64_t now,
                         law_fleet_share_t *share);

#endif
