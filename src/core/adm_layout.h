/* adm_layout.h - private: every struct in the segment.
 * Included by every file of the core that knows the segment.
 *
 *   [ header | zones | histories | children | doorbells | chunks | tickets
 *     | who | asks | flow tables | capabilities ]
 *
 * Read docs/dev/shared-memory.md first: drawing, states, invariants, lock rules.
 * Links are 1-based numbers, 0 is none. "Zone lock" below is the `lock` of the
 * zone that owns the record. Fields marked atomic may be read without it.
 */
#ifndef ADM_LAYOUT_H
#define ADM_LAYOUT_H

#include <apr_hash.h>
#include <apr_tables.h>

#include "adm.h"
#include "fair/fair_layout.h"
#include "adm_layout_who.h"
#include "adm_layout_zone.h"
#include "adm_lock.h"
#include "adm_part.h"

/* Also to be changed with adm_segment_t and what that points to: a new build of
 * the module finds the old one's after a reload. History: 1 first layout;
 * 2 stuck_since, has_left and busy_since_usec of a zone, ADM_BELL_LEFT, settled
 * workers; a second of a zone's history takes 8 bytes, pages share their rounds;
 * next_log for logged_at; limits by their source; figures in one struct, which
 * counts by outcome; ADM_TICKET_GRANTED, leases; programs known by pid; shared
 * workers; the agent's beat and calls; mode and live queue of a zone; who has a
 * ticket; programs that are all that a permit is used for; limits that find
 * themselves, what programs took; asks, flow tables and the setup of a zone; what is
 * spooled; what programs take, for people, and how much memory is available; the
 * limits of the last ten minutes; shares over servers, their engine; what tickets ask;
 * what kinds of programs cost;
 * 3 only a pid beside the arrival of a program; costs are configured, never
 * learnt; who waits for a program of this machine, tickets that were ignored; the
 * size of programs now; records for each capability. */
#define ADM_LAYOUT_VERSION 3

#define ADM_MAGIC UINT64_C(0x6e6f697373696d64) /* "dmission" */
#define ADM_CHUNK_TICKETS 64 /* tickets change zones in chunks of this many */

/* Largest capacities: all places have to be numbered in 32 bits. */
#define ADM_MAX_ZONES 65536
#define ADM_MAX_CHILDREN 1048576
#define ADM_MAX_CHUNKS 1048576
#define ADM_MAX_FLOW_TABLES 65536

typedef struct adm_header_rec_t {
    /* Written by the parent before the first fork. */
    uint64_t magic;
    uint32_t layout_version;
    uint32_t zones;
    uint32_t children;
    uint32_t chunks;
    uint64_t instance; /* random, secret: tokens begin with it */

    /* Written by the parent at each configuration load; atomic. */
    atomic_uint worker_cap;
    atomic_uint zones_used; /* places 1..zones_used were configured once */
    atomic_uint loads;      /* how many; children look again when it moves */
    _Atomic adm_usec_t orphan_hold_usec;

    /* Written by the parent and by children; atomic. */
    atomic_uint deaths; /* announced deaths; reapers look again when it moves */
    atomic_uint children_used; /* places 1..children_used were claimed once */

    /* The agent; atomic. */
    _Atomic adm_usec_t
        agent_beat; /* when it was last at work; 0: there is none.
                                    * Written by the agent; 0 by the parent too */
    atomic_uint
        agent_calls; /* the word it sleeps on: counted up, by anybody, to
                              * wake it */
    atomic_uint agent_polls; /* 1: it waits for its pipe, too. By the agent */
    _Atomic adm_usec_t
        next_fall_back; /* of limits that were measured, while there
                                        * is no agent */
    _Atomic uint64_t
        available_kb; /* memory without swapping, when it last looked.
                                    * By the agent; 0: not known */

    /* Written by children; atomic. */
    atomic_uint workers_held; /* sum of the children's, or more: a kill
                               * between the two leaves this one higher */
    atomic_uint chunks_used;  /* chunks 1..chunks_used were claimed once */
    _Atomic uint64_t unlimited;
    _Atomic uint64_t tickets_ignored;
    _Atomic adm_usec_t next_orphan_round; /* one process at a time looks */
    _Atomic adm_usec_t next_shown_round;  /* one of those that show figures */
    _Atomic adm_usec_t next_log[ADM_OUTCOMES];
} adm_header_rec_t;

/* Who says how many requests of a zone may run at once, each in a word of its
 * own: 0 says nothing, else the limit and one. adm_limit_least() knows which
 * holds. */
enum adm_limit_source_t {
    ADM_LIMIT_CONFIGURED, /* MaxConcurrent. Written by the parent */
    ADM_LIMIT_LIVE,       /* an administrator, while the server runs: zone lock;
                           * 0 by the parent, when its number is edited */
    ADM_LIMIT_AUTO,       /* what was measured */
    ADM_LIMIT_SHARE,      /* this server's part of a limit of many: the agent,
                           * zone lock; the parent when that begins or ends */
    ADM_LIMIT_SOURCES
};

/* What the agent wants to be woken for in a zone. */
#define ADM_WATCH_ENTER 1U /* a request runs or waits */
#define ADM_WATCH_QUEUE 2U /* a request waits */
#define ADM_WATCH_BACK 4U  /* fewer permits are out than share_bound */

/* Written by whoever holds the zone lock; atomic ones by a plain atomic store,
 * so that they can be read without it. Statistics start anew with each
 * incarnation. */
typedef struct adm_zone_rec_t {
    adm_lock_t lock;

    /* Written without the lock, each by its one source; cleared by the parent
     * with a new incarnation. */
    atomic_uint limits[ADM_LIMIT_SOURCES];
    atomic_uint has_other_limits; /* whether any but the configured one, or one
                                   * of the next two, was ever said */
    /* As ADM_LIMIT_LIVE. */
    atomic_uint live_queue_length; /* 0: none, else the length and one */
    atomic_uint mode;              /* adm_mode_t */

    /* The lease of ADM_LIMIT_SHARE. Zone lock, by the agent; at its beginning by
     * the parent without it. */
    _Atomic adm_usec_t share_until; /* on adm_clock_of_leases() */
    atomic_uint share_fallback;     /* adm_fallback_t. By the parent alone */
    atomic_uint share_had_lease;    /* 1: there was one since the zone joined */
    atomic_uint share_bound; /* no more permits are out: what was promised
                                     * last, or granted since */

    /* Zone lock. */
    atomic_uint watch; /* ADM_WATCH_*: what the agent wants to be woken for; the
                        * process that wakes it stores 0 */

    /* The term of ADM_LIMIT_AUTO, whose values are measured. By the agent, without
     * the lock, the term last; 0 by the parent when the zone becomes automatic. */
    atomic_uint
        measured_safe; /* after the term at most; 0: the same as before */
    _Atomic adm_usec_t measured_until;
    atomic_uint
        measured_began; /* how often that source became automatic. By the parent */

    /* Written by the parent without the lock, `setup` last. */
    atomic_uint incarnation;
    atomic_uint table_idx; /* the flow table that is in use; 0: none */
    atomic_uint setup;     /* counted up when one of these has changed */
    /* For the history: the limit that held before the last load that changed it,
     * and one, and in which second that was, stored last; 0: none did. */
    atomic_uint limit_before;
    atomic_uint limit_changed_second;

    /* Written by children without the lock; atomic. */
    _Atomic adm_usec_t
        stuck_since;      /* somebody waited for the lock in vain, from
                                 * then on; whoever gets it stores 0 */
    atomic_uint has_left; /* 1: tickets may be ADM_BELL_LEFT; whoever has the
                           * lock stores 0, then ends them */
    _Atomic adm_usec_t next_log[ADM_OUTCOMES];

    /* Zone lock. */
    uint32_t applied_setup;       /* that the next two are of */
    uint32_t applied_incarnation; /* that the statistics belong to */
    uint32_t applied_table_idx;   /* that the flows are in */
    atomic_uint active;           /* permits of tickets GRANTED, ACTIVE or
                                   * ORPHANED: one each, but for costs */
    atomic_uint queued;           /* tickets WAITING */
    atomic_uint orphans;          /* tickets ORPHANED */
    uint32_t head_idx;            /* first in the queue */
    uint32_t tail_idx;            /* last in the queue */
    uint32_t granted_idx;         /* the grants, linked as the queue is */
    uint32_t free_idx;            /* unused tickets, linked by next_idx */
    uint32_t fresh_idx;           /* next ticket never used of the newest
                                   * chunk; 0 none */
    uint32_t fresh_end_idx;       /* the one after the last of these */
    atomic_uint queue_length;     /* that the last request came with; the parent
                               * sets it at each load, without the lock */
    uint32_t noted_second;        /* the last one in the zone's history */
    uint32_t limit_noted_second;  /* the same of its limits; 0: they have not
                                   * changed */
    uint64_t next_arrival;
    adm_usec_t busy_since_usec; /* `active` is above 0 since; no request that
                              * holds a permit began before */
    _Atomic adm_usec_t lease_until; /* end of the first lease; 0: no grants. May
                                     * be that of one that has begun since */
    _Atomic adm_usec_t guarded_until; /* until then no other guard is rung */
    uint32_t passed_in_row;           /* permits, since a winner began */
    atomic_uint unguarded_idx; /* the child of a grant for which there was no
                                * guard; 0: none. Who becomes it stores 0,
                                * without the lock */
    adm_usec_t queued_since;   /* somebody waits since; 0: nobody does */
    uint64_t peak_kb; /* largest of the programs that ended since the agent took
                       * this number, and stored 0 */
    adm_figures_t figures;
} __attribute__((aligned(ADM_CACHE_LINE))) adm_zone_rec_t;

enum adm_ticket_state_t {
    ADM_TICKET_FREE = 0,
    ADM_TICKET_WAITING = 1,
    ADM_TICKET_ACTIVE = 2,
    ADM_TICKET_ORPHANED = 3,
    ADM_TICKET_GRANTED = 4
};

/* Written under the zone lock unless noted. */
typedef struct adm_ticket_rec_t {
    atomic_uint state;  /* the truth, and the word its waiter sleeps on */
    uint32_t child_idx; /* who holds it or waits */
    uint64_t arrival;   /* place in the order of arrival of its zone */
    adm_usec_t
        since_usec; /* in the queue since; once a permit is used, and that is
                            * settled: runs since */
    union {
        /* GRANTED: the end of its lease. */
        adm_usec_t lease_until_usec;
        /* ACTIVE, ORPHANED: by adm_proc_now(), `program` was there then.
         * Written by itself, before that. */
        _Atomic adm_usec_t program_seen;
    };
    union {
        /* GRANTED, ACTIVE: when it began, if it did. Without the lock, by the
         * owning child. */
        _Atomic adm_usec_t begun_usec;
        /* ORPHANED: is given up then. */
        adm_usec_t held_until_usec;
    };
    uint32_t prev_idx;    /* in the queue, or among the grants */
    uint32_t next_idx;    /* in the queue, among the grants, in the free list */
    atomic_uint bell;     /* slot + 1 of a parked ticket; 0: a thread sleeps;
                           * from ADM_BELL_LEFT on: who has left it. By the owning
                           * child without the lock, in the end compare and swap */
    atomic_uint programs; /* ADM_PROGRAMS_*: whether any was announced. By the
                           * owning child, no lock */
    _Atomic uint64_t program; /* adm_program_word() of the last one. Compare and
                               * swap without lock: by the program itself between
                               * fork and exec; closed by its owner or a reaper */
} __attribute__((aligned(ADM_CACHE_LINE))) adm_ticket_rec_t;

_Static_assert(sizeof(adm_ticket_rec_t) == ADM_CACHE_LINE,
               "a ticket is one cache line");

/* What a ticket's `programs` says. */
#define ADM_PROGRAMS_ONE 1U
#define ADM_PROGRAMS_UNSEEN 2U    /* and others, or one that notes no pid */
#define ADM_PROGRAMS_ABANDONED 4U /* ORPHANED by its owner, which lived */

/* The low bits of the ticket's arrival, so that a late writer hits only its own
 * ticket, and a pid; 0: not known, ADM_PROGRAM_CLOSED: too late to start one. */
#define ADM_PROGRAM_CLOSED UINT32_MAX

static inline uint64_t adm_program_word(uint64_t arrival, uint32_t pid)
{
    return (arrival & UINT32_MAX) << 32 | pid;
}

static inline uint32_t adm_program_pid(uint64_t program)
{
    return (uint32_t)program;
}

/** @return the ticket's program while it runs and its pid is known; else 0. */
static inline uint64_t adm_program_known(const adm_ticket_rec_t *ticket)
{
    uint64_t program = atomic_load(&ticket->program);
    uint32_t pid = adm_program_pid(program);

    return atomic_load(&ticket->programs) && pid != 0
                   && pid != ADM_PROGRAM_CLOSED
               ? program
               : 0;
}

/* A child's life: pid, sequence number and state in one word. */
enum adm_life_state_t {
    ADM_LIFE_FREE = 0,
    ADM_LIFE_CLAIMED = 1,
    ADM_LIFE_LIVE = 2,
    ADM_LIFE_DEAD = 3
};

static inline uint64_t adm_life(pid_t pid, uint32_t sequence,
                                enum adm_life_state_t state)
{
    return (uint64_t)(uint32_t)pid << 32 | (uint64_t)(sequence & 0xffffff) << 8
           | (uint64_t)state;
}

static inline enum adm_life_state_t adm_life_state(uint64_t life)
{
    return (enum adm_life_state_t)(life & 0xff);
}

static inline uint32_t adm_life_sequence(uint64_t life)
{
    return (uint32_t)(life >> 8) & 0xffffff;
}

static inline pid_t adm_life_pid(uint64_t life)
{
    return (pid_t)(life >> 32);
}

/* In `bell`: the request left and could not lock the zone. A slot is never so
 * large. The low bits are an adm_outcome_t or one of these, how it left; between
 * them are the low bits of its arrival, so that a late writer means only its own
 * ticket. */
#define ADM_BELL_LEFT UINT32_C(0x80000000)
#define ADM_BELL_HOW UINT32_C(0x1ff)

enum { ADM_LEFT_RELEASED = 0x100, ADM_LEFT_ABANDONED = 0x101 };

static inline uint32_t adm_bell_left(uint64_t arrival, uint32_t how)
{
    return ADM_BELL_LEFT
           | (uint32_t)(arrival & (ADM_BELL_LEFT / (ADM_BELL_HOW + 1) - 1))
                 * (ADM_BELL_HOW + 1)
           | how;
}

/* Whether its own request has left it. Does not look at the state. */
static inline bool adm_ticket_was_left(const adm_ticket_rec_t *ticket)
{
    return (atomic_load(&ticket->bell) & ~ADM_BELL_HOW)
           == adm_bell_left(ticket->arrival, 0);
}

/* Whether a dispatcher looks after it, and no thread sleeps. */
static inline bool adm_bell_is_parked(uint32_t bell)
{
    return bell != 0 && !(bell & ADM_BELL_LEFT);
}

/* Whether a child can begin what it is granted: a hint. */
enum adm_room_t {
    ADM_ROOM_IDLE = 0,  /* nothing is known against it */
    ADM_ROOM_FULL = 1,  /* no worker is idle */
    ADM_ROOM_SILENT = 2 /* a lease of it has run out */
};

typedef struct adm_child_rec_t {
    _Atomic uint64_t life; /* compare and swap, by anybody */
    adm_lock_t alive;      /* held by the child's main thread while it lives */

    /* Written by the child alone; atomic. */
    atomic_uint generation;
    atomic_uint workers_asked; /* held or just being asked for */
    atomic_uint workers_held;
    atomic_uint blocked;
    atomic_uint workers_blocked; /* those of them that hold a worker */
    atomic_uint workers_settled; /* of workers_held: run or block, do not just
                                  * ask */
    atomic_uint workers_shared;  /* of workers_settled: adm_worker_occupy() */
    atomic_uint parked;
    atomic_uint transfers; /* adm_worker_begin_transfer() */

    /* Written by the child, and by whoever passes on a grant of it; atomic. */
    atomic_uint room;
} __attribute__((aligned(ADM_CACHE_LINE))) adm_child_rec_t;

#define ADM_BELL_WORDS (ADM_PARK_SLOTS / 64)
#define ADM_BELL_SUMMARIES (ADM_BELL_WORDS / 64)

/* Bits are set by whoever grants, cleared by the child; all atomic. */
typedef struct adm_doorbell_rec_t {
    atomic_uint rings; /* the word its dispatcher sleeps on */
    _Atomic uint64_t summary[ADM_BELL_SUMMARIES]; /* a bit a word of slots */
    _Atomic uint64_t slots[ADM_BELL_WORDS];       /* a bit a parked ticket */
} __attribute__((aligned(ADM_CACHE_LINE))) adm_doorbell_rec_t;

/* Which zone has a chunk of tickets. */
typedef struct adm_chunk_rec_t {
    atomic_uint zone_idx; /* 0: free. Claimed by compare and swap under the
                           * claiming zone's lock, never given back */
} adm_chunk_rec_t;

/* ---- handles: private memory of each process ----------------------------- */

struct adm_segment_t {
    apr_pool_t *pool;
    void *base;
    size_t bytes;
    adm_sizes_t sizes; /* tickets: whole chunks */
    uint32_t chunks;

    adm_header_rec_t *header;
    /* A zone each. */
    adm_zone_rec_t *zone_recs;
    adm_history_rec_t *history_recs;
    adm_child_rec_t *child_recs;
    adm_doorbell_rec_t *doorbell_recs;
    adm_chunk_rec_t *chunk_recs;
    adm_ticket_rec_t *ticket_recs;
    adm_who_rec_t *who_recs; /* a ticket each */
    adm_ask_rec_t *ask_recs; /* a ticket each */
    adm_flow_table_rec_t *flow_table_recs;
    struct {
        void *of_server;
        char *of_zone;
        char *of_child;
    } parts[ADM_PARTS]; /* records of capabilities: adm_part.h */
    unsigned char secret[ADM_SECRET_LENGTH]; /* for the hash of keys */
    /* The parent's register of zones. */
    apr_array_header_t *names; /* of adm_zone_name_t *, by place */
    apr_hash_t *places;        /* name -> its adm_zone_name_t */
    uint32_t reuse_from;       /* before it, no place is retired in this load */
    uint32_t load;             /* number of this configuration load */
    uint32_t flow_tables_used; /* that belong to a place */

    int agent_pipe[2]; /* wakes an agent that polls; 0: there is none */
};

struct adm_child_t {
    adm_segment_t *segment;
    adm_child_rec_t *rec;
    adm_doorbell_rec_t *doorbell;
    uint32_t idx;
    pid_t pid;
    atomic_bool is_stopping;
    uint32_t blocked_max;        /* of rec->workers_blocked and _shared */
    atomic_uint workers_lacking; /* adm_worker_lack() */
    atomic_bool accepts_no_more; /* adm_worker_accept_no_more() */
    uint32_t connection_budget;  /* adm_worker_limit_connections() */
    uint32_t server_budget;
    uint32_t connections_per_worker;
    /* What the last audit saw. */
    atomic_uint deaths_seen;
    atomic_uint loads_seen;
    _Atomic adm_usec_t next_round;
};

/* ---- access by number: NULL for numbers that cannot be -------------------- */

static inline adm_zone_rec_t *adm_zone_at(const adm_segment_t *segment,
                                          uint32_t idx)
{
    return idx - 1 < segment->sizes.zones ? &segment->zone_recs[idx - 1] : NULL;
}

static inline adm_child_rec_t *adm_child_at(const adm_segment_t *segment,
                                            uint32_t idx)
{
    return idx - 1 < segment->sizes.children ? &segment->child_recs[idx - 1]
                                             : NULL;
}

/** @return a capability's record of a zone; NULL as above. */
static inline void *adm_part_zone_at(const adm_segment_t *segment,
                                     adm_part_number_t number, size_t size,
                                     uint32_t idx)
{
    return idx - 1 < segment->sizes.zones
               ? segment->parts[number].of_zone + (idx - 1) * size
               : NULL;
}

/** @return a capability's record of a child; NULL as above. */
static inline void *adm_part_child_at(const adm_segment_t *segment,
                                      adm_part_number_t number, size_t size,
                                      uint32_t idx)
{
    return idx - 1 < segment->sizes.children
               ? segment->parts[number].of_child + (idx - 1) * size
               : NULL;
}

static inline adm_doorbell_rec_t *adm_doorbell_at(const adm_segment_t *segment,
                                                  uint32_t idx)
{
    return idx - 1 < segment->sizes.children ? &segment->doorbell_recs[idx - 1]
                                             : NULL;
}

static inline adm_ticket_rec_t *adm_ticket_at(const adm_segment_t *segment,
                                              uint32_t idx)
{
    return idx - 1 < segment->sizes.tickets ? &segment->ticket_recs[idx - 1]
                                            : NULL;
}

static inline adm_who_rec_t *adm_who_at(const adm_segment_t *segment,
                                        uint32_t ticket_idx)
{
    return ticket_idx - 1 < segment->sizes.tickets
               ? &segment->who_recs[ticket_idx - 1]
               : NULL;
}

static inline adm_ask_rec_t *adm_ask_at(const adm_segment_t *segment,
                                        uint32_t ticket_idx)
{
    return ticket_idx - 1 < segment->sizes.tickets
               ? &segment->ask_recs[ticket_idx - 1]
               : NULL;
}

static inline adm_flow_table_rec_t *
adm_flow_table_at(const adm_segment_t *segment, uint32_t idx)
{
    return idx - 1 < segment->sizes.flow_tables
               ? &segment->flow_table_recs[idx - 1]
               : NULL;
}

/** How long the first in the queue waits. Zone lock. */
static inline adm_usec_t adm_oldest_wait_locked(const adm_segment_t *segment,
                                                const adm_zone_rec_t *zone,
                                                adm_usec_t now)
{
    const adm_ticket_rec_t *first = adm_ticket_at(segment, zone->head_idx);

    /* A request may have come after the clock was read. */
    return first && now > first->since_usec ? now - first->since_usec : 0;
}

/* ---- walks: the numbers in the header are bounded by what there is --------- */

/** Zones 1..n were configured once. */
static inline uint32_t adm_zones_used(const adm_segment_t *segment)
{
    uint32_t used = atomic_load(&segment->header->zones_used);

    return used < segment->sizes.zones ? used : segment->sizes.zones;
}

/** Children 1..n were claimed once. */
static inline uint32_t adm_children_used(const adm_segment_t *segment)
{
    uint32_t used = atomic_load(&segment->header->children_used);

    return used < segment->sizes.children ? used : segment->sizes.children;
}

/** Chunks 0..n-1 were claimed once. */
static inline uint32_t adm_chunks_used(const adm_segment_t *segment)
{
    uint32_t used = atomic_load(&segment->header->chunks_used);

    return used < segment->chunks ? used : segment->chunks;
}

/** @return the first living child behind @a idx with its number there, or NULL. Begin
 *  with 0. */
static inline adm_child_rec_t *adm_child_next(const adm_segment_t *segment,
                                              uint32_t *idx)
{
    uint32_t used = adm_children_used(segment);

    while (*idx < used) {
        adm_child_rec_t *rec = adm_child_at(segment, ++*idx);

        if (adm_life_state(atomic_load(&rec->life)) == ADM_LIFE_LIVE) {
            return rec;
        }
    }
    return NULL;
}

/** @return the first ticket of the zone's first chunk from @a chunk on, which is then
 *  the next one to look at; 0: there is none below @a end. */
static inline uint32_t adm_chunk_next(const adm_segment_t *segment,
                                      uint32_t zone_idx, uint32_t *chunk,
                                      uint32_t end)
{
    while (*chunk < end) {
        uint32_t at = (*chunk)++;

        if (atomic_load(&segment->chunk_recs[at].zone_idx) == zone_idx) {
            return at * ADM_CHUNK_TICKETS + 1;
        }
    }
    return 0;
}

/** Add to a count that is written under the zone's lock alone. */
static inline void adm_count_locked(atomic_uint *count, int difference)
{
    /* Only the lock's owner writes: a load and a store, no locked operation. */
    unsigned value = atomic_load_explicit(count, memory_order_relaxed);

    atomic_store_explicit(count, value + (unsigned)difference,
                          memory_order_relaxed);
}

/** Number of a zone from its record. */
static inline uint32_t adm_zone_idx(const adm_segment_t *segment,
                                    const adm_zone_rec_t *zone)
{
    return (uint32_t)(zone - segment->zone_recs) + 1;
}

#endif
