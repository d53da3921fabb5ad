/* adm_layout.h - private: every struct in the segment.
 * Included by every file of the core that uses the segment.
 *
 *   [ header | zones | histories | children | doorbells | chunks | tickets
 *     | who | asks | flow tables | capabilities ]
 *
 * Read docs/dev/shared-memory.md first: layout, states, invariants, lock rules.
 * Links are 1-based numbers; 0 is none.
 *
 * "Written by" names all writers of the fields that follow, and the lock they
 * hold: the zone lock is the `lock` of the zone that owns the record. A field
 * of an atomic type can be read without a lock.
 */
#ifndef ADM_LAYOUT_H
#define ADM_LAYOUT_H

#include <apr_hash.h>
#include <apr_tables.h>

#include "adm.h"
#include "fair/fair_layout.h"
#include "adm_system.h"
#include "adm_number.h"
#include "adm_part.h"

/* Increment this with every change of a struct in the segment, of
 * adm_segment_t, or of what that points to: after a reload, a new build of the
 * module finds the old one's segment. */
#define ADM_LAYOUT_VERSION 5

#define ADM_MAGIC UINT64_C(0x6e6f697373696d64) /* "dmission" */
#define ADM_CACHE_LINE 64
#define ADM_CHUNK_TICKETS 64 /* size of a chunk, which belongs to one zone */

/* Largest capacities: all slots must have 32-bit numbers. */
#define ADM_MAX_ZONES 65536
#define ADM_MAX_CHILDREN 1048576
#define ADM_MAX_CHUNKS 1048576
#define ADM_MAX_FLOW_TABLES 65536

typedef struct adm_header_rec_t {
    /* Written by the parent before the first fork; no lock. */
    uint64_t magic;
    uint32_t layout_version;
    uint32_t zones;
    uint32_t children;
    uint32_t chunks;
    uint64_t instance; /* random and secret: tokens start with it */

    /* Written by the parent at each configuration load; no lock. */
    atomic_uint worker_cap;
    atomic_uint zones_used; /* zones 1..zones_used have been configured */
    _Atomic adm_usec_t orphan_hold_usec;

    /* Written by the parent and by children; no lock. */
    atomic_uint news; /* number of deaths and loads; a new one causes a round */
    atomic_uint children_used; /* records 1..children_used have been claimed */

    /* Written by the agent, and as noted; no lock. */

    /* Time of the last heartbeat; 0: there is no agent. The parent stores 0,
     * too. */
    _Atomic adm_usec_t agent_beat;
    /* Futex word that the agent sleeps on. Any process increments it to wake
     * the agent. */
    atomic_uint agent_wakes;
    atomic_uint agent_polls; /* 1: the agent waits for agent_event, too */
    /* Next check of measured limits by children, which write this, while there
     * is no agent. */
    _Atomic adm_usec_t next_fall_back;
    /* Memory that is available without swapping, at the last sample; 0:
     * unknown. */
    _Atomic uint64_t available_kb;

    /* Written by children; no lock. */

    /* Sum of the children's workers_held, or more: a process killed between the
     * two stores leaves this sum too high. */
    atomic_uint workers_held;
    atomic_uint chunks_used; /* chunks 1..chunks_used have been claimed */
    _Atomic uint64_t unlimited;
    _Atomic uint64_t tickets_ignored;
    _Atomic adm_usec_t next_orphan_round; /* next check of orphans, by one
                                           * process */
    _Atomic adm_usec_t next_shown_round;  /* next forced round, by one
                                           * process */
    _Atomic adm_usec_t next_log[ADM_OUTCOMES];
} adm_header_rec_t;

/* Sources of a zone's limit. Each has a word: 0 if it sets none, otherwise the
 * limit + 1. adm_limit_compute() returns the limit in force. */
enum adm_limit_source_t {
    /* MaxConcurrent. Written by the parent; no lock. */
    ADM_LIMIT_CONFIGURED,
    /* An administrator's override. Written under the zone lock; the parent
     * stores 0 without it, when the configured number has changed. */
    ADM_LIMIT_OVERRIDE,
    /* An automatic limit. Written by the agent; by children while there is no
     * agent; by the parent when the limit becomes or ceases to be automatic. No
     * lock. */
    ADM_LIMIT_AUTO,
    /* This server's share of a limit across servers. Written by the agent under
     * the zone lock; by the parent without it, when sharing starts or ends. */
    ADM_LIMIT_SHARE,
    ADM_LIMIT_SOURCES
};

/* What the agent can be woken for in a zone. */
#define ADM_WATCH_ENTER 1U /* a request runs or waits */
#define ADM_WATCH_QUEUE 2U /* a request waits */
#define ADM_WATCH_BACK 4U  /* fewer permits are out than share_bound */

/* Written under the zone lock, unless noted; atomic fields by a plain atomic
 * store, because they are read without it. Statistics start at 0 with each
 * incarnation. */
typedef struct adm_zone_rec_t {
    adm_lock_t lock;

    /* Written by each source, as in adm_limit_source_t; the parent clears them
     * for a new incarnation. */
    atomic_uint limits[ADM_LIMIT_SOURCES];
    /* Whether any other source has ever set a limit, or queue_length_override
     * or mode was ever set. */
    atomic_uint has_other_limits;
    /* Written as ADM_LIMIT_OVERRIDE is. */
    atomic_uint queue_length_override; /* the override + 1; 0: none */
    atomic_uint mode;                  /* adm_mode_t */

    /* The lease of ADM_LIMIT_SHARE. Written by the agent under the zone lock;
     * by the parent without it, when sharing starts. */
    _Atomic adm_usec_t share_until; /* on adm_clock_since_boot() */
    atomic_uint share_fallback;     /* adm_fallback_t. Written by the parent
                                     * only */
    atomic_uint share_had_lease;    /* 1: there has been a lease since sharing
                                     * started */
    /* Upper bound of permits in use: the last commitment to the engine, or
     * what was granted since. */
    atomic_uint share_bound;

    /* Written under the zone lock. */

    /* ADM_WATCH_*: what the agent is woken for. The process that wakes it
     * stores 0. */
    atomic_uint watch;

    /* The term of ADM_LIMIT_AUTO: without renewal, a measured limit expires.
     * Written by the agent, measured_until last; the parent stores 0 when the
     * limit becomes automatic. No lock. */
    atomic_uint measured_safe; /* maximum after the term; 0: unchanged */
    _Atomic adm_usec_t measured_until;
    /* How often the limit became automatic. Written by the parent. */
    atomic_uint measured_began;

    /* Written by the parent, `setup` last; no lock. */
    atomic_uint incarnation;
    atomic_uint table_idx; /* flow table in use; 0: none */
    atomic_uint setup;     /* incremented when one of these has changed */
    /* For the history: the limit (+ 1) before the last load that changed it,
     * and the second of that load, stored last; 0: none. Written by the parent;
     * no lock. */
    atomic_uint limit_before;
    atomic_uint limit_changed_second;

    /* Written by children; no lock. */

    /* Start of the first wait for the lock since a process got it; 0: none.
     * The next owner of the lock stores 0. */
    _Atomic adm_usec_t stuck_since;
    /* 1: requests might have left tickets (ADM_BELL_LEFT). The next owner of
     * the lock stores 0, then ends these. */
    atomic_uint has_left;
    _Atomic adm_usec_t next_log[ADM_OUTCOMES];

    /* Written under the zone lock. */
    uint32_t applied_setup;       /* `setup` of the next two */
    uint32_t applied_incarnation; /* incarnation of the statistics */
    uint32_t applied_table_idx;   /* flow table that has the flows */
    /* Permits of GRANTED, ACTIVE and ORPHANED tickets: one each, unless they
     * cost more. */
    atomic_uint active;
    atomic_uint queued;   /* WAITING tickets */
    atomic_uint orphans;  /* ORPHANED tickets */
    uint32_t head_idx;    /* first in the queue */
    uint32_t tail_idx;    /* last in the queue */
    uint32_t granted_idx; /* grants, newest first */
    uint32_t free_idx;    /* free list, linked by next_idx */
    /* Never-used tickets of the newest chunk: the next one, 0 if none, and the
     * end. */
    uint32_t fresh_idx;
    uint32_t fresh_end_idx;
    /* Queue length of the last request's section. The parent stores it at each
     * load, without the lock. */
    atomic_uint queue_length;
    uint32_t noted_second;       /* last second in the history */
    uint32_t limit_noted_second; /* the same for limits; 0: never changed */
    uint64_t next_arrival;
    /* Time since which `active` has been above 0: all requests that hold
     * permits started at that time or later. */
    adm_usec_t busy_since_usec;
    /* End of the first lease, whose ticket might have started since; 0: no
     * grants. */
    _Atomic adm_usec_t lease_until;
    _Atomic adm_usec_t guarded_until; /* until then no other guard is
                                       * appointed */
    /* Permits passed on since a granted request last started. */
    uint32_t passed_in_row;
    /* Child of a grant that has no guard; 0: none. A child that becomes its
     * guard stores 0, without the lock. */
    atomic_uint unguarded_idx;
    adm_usec_t queued_since; /* time since which requests wait; 0: none */
    /* Memory per permit of the largest program that ended since the agent last
     * read this, and stored 0. */
    uint64_t peak_kb;
    adm_figures_t figures;
} __attribute__((aligned(ADM_CACHE_LINE))) adm_zone_rec_t;

/* One second of a zone. Written under the zone lock. Limits and queue lengths
 * are below 2^16; larger numbers, from corrupt shared memory, become 2^16 -
 * 1. */
typedef struct adm_second_rec_t {
    uint16_t active_max; /* maximum in it */
    uint16_t queued_max;
    uint32_t rejected; /* in it, for any reason */
} adm_second_rec_t;

/* The last seconds of a zone: ring buffers, by second modulo their length, up
 * to the zone's noted_second. Only changes are written: since that second
 * nothing has changed. Written under the zone lock. */
typedef struct adm_history_rec_t {
    uint64_t rejected; /* at the end of the noted second */
    uint32_t active;
    uint32_t queued;
    uint32_t limit; /* at limit_noted_second */
    adm_second_rec_t seconds[ADM_HISTORY_SECONDS];
    /* Limit at the end of each second, up to the zone's limit_noted_second. */
    uint16_t limits[ADM_HISTORY_SECONDS];
} __attribute__((aligned(ADM_CACHE_LINE))) adm_history_rec_t;

_Static_assert(sizeof(adm_history_rec_t) <= 8192,
               "ten minutes of a zone take two pages at most");

enum adm_ticket_state_t {
    ADM_TICKET_FREE = 0,
    ADM_TICKET_WAITING = 1,
    ADM_TICKET_ACTIVE = 2,
    ADM_TICKET_ORPHANED = 3,
    ADM_TICKET_GRANTED = 4
};

/* Written under the zone lock unless noted. */
typedef struct adm_ticket_rec_t {
    atomic_uint state;  /* authoritative; futex word of a blocked ticket */
    uint32_t child_idx; /* the owner; 0 if ORPHANED */
    uint64_t arrival;   /* number in the zone's order of arrival */
    /* Start of the wait; once a start is settled, that start. */
    adm_usec_t since_usec;
    union {
        /* GRANTED: end of the lease. */
        adm_usec_t lease_until_usec;
        /* ACTIVE, ORPHANED: a moment (adm_clock_since_boot()) when `program`
         * existed. Written by the program, before `program`; no lock. */
        _Atomic adm_usec_t program_seen;
    };
    union {
        /* GRANTED, ACTIVE: when the request started; 0: it has not. Written by
         * the owner; no lock. */
        _Atomic adm_usec_t begun_usec;
        /* ORPHANED: end of the grace period. Never, if a request left the
         * permit to a program whose PID is known. */
        adm_usec_t held_until_usec;
    };
    uint32_t prev_idx; /* in the queue or the list of grants */
    uint32_t next_idx; /* in the queue, the grants or the free list */
    /* Slot + 1 of a parked ticket; 0: a thread sleeps; from ADM_BELL_LEFT on:
     * how the request left. Written by the owner, the last one by compare and
     * swap; no lock. */
    atomic_uint bell;
    /* ADM_PROGRAMS_*: programs that were announced. Written by the owner; no
     * lock. */
    atomic_uint programs;
    /* adm_program_word() of the last program. Written by compare and swap, no
     * lock: by the program itself between fork and exec; by the owner or a
     * reaper to close it. */
    _Atomic uint64_t program;
} __attribute__((aligned(ADM_CACHE_LINE))) adm_ticket_rec_t;

_Static_assert(sizeof(adm_ticket_rec_t) == ADM_CACHE_LINE,
               "a ticket is one cache line");

/* Bits of a ticket's `programs`. */
#define ADM_PROGRAMS_ONE 1U
#define ADM_PROGRAMS_UNSEEN 2U    /* others, too, or one without known PID */
#define ADM_PROGRAMS_ABANDONED 4U /* ORPHANED by its owner, which was alive */

/* A ticket's `program`: the low bits of the ticket's arrival, so that a late
 * writer changes only its own ticket, and a PID. 0: unknown.
 * ADM_PROGRAM_CLOSED: no program can start any more. */
#define ADM_PROGRAM_CLOSED UINT32_MAX

static inline uint64_t adm_program_word(uint64_t arrival, uint32_t pid)
{
    return (arrival & UINT32_MAX) << 32 | pid;
}

static inline uint32_t adm_program_pid(uint64_t program)
{
    return (uint32_t)program;
}

/** @return the ticket's `program` if its PID is known; otherwise 0. */
static inline uint64_t adm_program_known(const adm_ticket_rec_t *ticket)
{
    uint64_t program = atomic_load(&ticket->program);
    uint32_t pid = adm_program_pid(program);

    return atomic_load(&ticket->programs) && pid != 0
                   && pid != ADM_PROGRAM_CLOSED
               ? program
               : 0;
}

/* Description of the request whose ticket has the same number, for display
 * (adm_who.c). Written by the ticket's owner; no lock. */
typedef struct adm_who_rec_t {
    _Atomic uint64_t mark; /* the ticket's arrival and 1; 0 while being
                            * written */
    adm_who_t who;

    /* adm_sent_word(), if the request was sent to a program of this machine.
     * Written by the ticket's owner; no lock. */
    _Atomic uint64_t sent;

    /* What the ticket's program has used (adm_account.c). Written by the agent
     * at each sample, and by the ticket's owner when the program has ended; no
     * lock. */
    _Atomic uint64_t taken_of; /* adm_program_word() of the program; 0 while
                                * being written */
    _Atomic uint64_t size_kb;  /* resident; 0: it has ended */
    _Atomic uint64_t peak_kb;
    _Atomic uint64_t processor_usec;
    _Atomic uint64_t faults;
} adm_who_rec_t;

/* The low bits of the ticket's arrival, and the virtual host that sent its
 * request. */
static inline uint64_t adm_sent_word(uint64_t arrival, uint32_t by)
{
    return (arrival & UINT32_MAX) << 32 | by;
}

/* A child's life: PID, sequence number and state in one word. */
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

/* A note in `bell`, larger than any slot: the request left but could not lock
 * the zone. The low bits are how it left, an adm_outcome_t or ADM_LEFT_*. The
 * bits between are the low bits of the ticket's arrival, so that a late writer
 * affects only its own ticket. */
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

/* Whether the ticket's own request has left. Does not check the state. */
static inline bool adm_ticket_was_left(const adm_ticket_rec_t *ticket)
{
    return (atomic_load(&ticket->bell) & ~ADM_BELL_HOW)
           == adm_bell_left(ticket->arrival, 0);
}

/* Whether the ticket is parked: a dispatcher watches it, no thread sleeps. */
static inline bool adm_bell_is_parked(uint32_t bell)
{
    return bell != 0 && !(bell & ADM_BELL_LEFT);
}

/* Whether a child can run the tickets it was granted: a hint. */
enum adm_room_t {
    ADM_ROOM_IDLE = 0,  /* it can, as far as is known */
    ADM_ROOM_FULL = 1,  /* no worker is idle */
    ADM_ROOM_SILENT = 2 /* one of its leases has expired */
};

typedef struct adm_child_rec_t {
    _Atomic uint64_t life; /* written by any process, by compare and swap */
    adm_lock_t alive;      /* held by the child's main thread while it lives */

    /* Written by the child; no lock. */
    atomic_uint
        cleared_as; /* sequence number of the life that cleared the rest */
    atomic_uint generation;
    atomic_uint workers_asked; /* workers held, or just being asked for */
    atomic_uint workers_held;
    atomic_uint blocked;
    atomic_uint workers_blocked; /* of these, with a worker */
    atomic_uint workers_shared;  /* of workers_held: adm_worker_occupy() */
    atomic_uint parked;
    atomic_uint transfers; /* adm_worker_begin_transfer() */

    /* Written by the child, and by a process that passes on one of its grants;
     * no lock. */
    atomic_uint room;
} __attribute__((aligned(ADM_CACHE_LINE))) adm_child_rec_t;

#define ADM_BELL_WORDS (ADM_PARK_SLOTS / 64)
#define ADM_BELL_SUMMARIES (ADM_BELL_WORDS / 64)

/* Bits are set by a process that grants, cleared by the child; no lock. */
typedef struct adm_doorbell_rec_t {
    atomic_uint rings; /* the dispatcher's futex word */
    _Atomic uint64_t summary[ADM_BELL_SUMMARIES]; /* one bit per word of
                                                   * slots */
    _Atomic uint64_t slots[ADM_BELL_WORDS];       /* one bit per parked
                                                   * ticket */
} __attribute__((aligned(ADM_CACHE_LINE))) adm_doorbell_rec_t;

/* The zone that owns a chunk of tickets. */
typedef struct adm_chunk_rec_t {
    /* 0: free. Written by compare and swap under the claiming zone's lock;
     * never freed. */
    atomic_uint zone_idx;
} adm_chunk_rec_t;

/* ---- handles: private memory of each process ----------------------------- */

struct adm_segment_t {
    apr_pool_t *pool;
    void *base;
    size_t bytes;
    adm_sizes_t sizes; /* tickets: whole chunks */
    uint32_t chunks;

    adm_header_rec_t *header;
    /* One per zone. */
    adm_zone_rec_t *zone_recs;
    adm_history_rec_t *history_recs;
    adm_child_rec_t *child_recs;
    adm_doorbell_rec_t *doorbell_recs;
    adm_chunk_rec_t *chunk_recs;
    adm_ticket_rec_t *ticket_recs;
    adm_who_rec_t *who_recs; /* one per ticket */
    adm_ask_rec_t *ask_recs; /* one per ticket */
    adm_flow_table_rec_t *flow_table_recs;
    struct {
        void *of_server;
        char *of_zone;
        char *of_child;
    } parts[ADM_PARTS]; /* records of capabilities: adm_part.h */
    unsigned char secret[ADM_SECRET_LENGTH]; /* for the hash of keys */
    /* The parent's table of zones. */
    apr_array_header_t *names; /* of adm_zone_name_t *, by slot */
    apr_hash_t *by_name;       /* name -> its adm_zone_name_t */
    uint32_t reuse_from;       /* no slot before it is retired in this load */
    uint32_t load;             /* number of this configuration load */
    uint32_t flow_tables_used; /* flow tables that belong to a slot */

    int agent_event[2]; /* sockets that wake the agent while it polls: it reads
                         * from [0]; [1] is 0 if there are none */
};

struct adm_child_t {
    adm_segment_t *segment;
    adm_child_rec_t *rec;
    adm_doorbell_rec_t *doorbell;
    uint32_t idx;
    pid_t pid;
    atomic_bool is_stopping;
    uint32_t blocked_max;        /* limits rec->workers_blocked and _shared */
    atomic_uint workers_lacking; /* adm_worker_note_lacking() */
    atomic_bool accepts_no_more; /* adm_worker_accept_no_more() */
    uint32_t connection_budget;  /* adm_worker_limit_connections() */
    uint32_t server_budget;
    uint32_t connections_per_worker;
    /* State at this process's last round. */
    atomic_uint news_seen;
    _Atomic adm_usec_t next_round;
};

/* ---- access by number; NULL if there is none ----------------------------- */

#define ADM_RECORD_AT(name, kind)                                             \
    static inline adm_##name##_rec_t *adm_##name##_at(                        \
        const adm_segment_t *segment, uint32_t idx)                           \
    {                                                                         \
        return idx - 1 < segment->sizes.kind ? &segment->name##_recs[idx - 1] \
                                             : NULL;                          \
    }
ADM_RECORD_AT(zone, zones)
ADM_RECORD_AT(child, children)
ADM_RECORD_AT(doorbell, children)
ADM_RECORD_AT(ticket, tickets)
ADM_RECORD_AT(who, tickets) /* by the number of the ticket */
ADM_RECORD_AT(ask, tickets)
ADM_RECORD_AT(flow_table, flow_tables)
#undef ADM_RECORD_AT

/** @return the record of a ticket that has entered. */
static inline adm_ticket_rec_t *adm_ticket_rec(const adm_ticket_t *ticket)
{
    return adm_ticket_at(ticket->child->segment, ticket->idx);
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

/** @return how long the first in the queue has waited. Needs the zone lock. */
static inline adm_usec_t adm_oldest_wait_locked(const adm_segment_t *segment,
                                                const adm_zone_rec_t *zone,
                                                adm_usec_t now)
{
    const adm_ticket_rec_t *first = adm_ticket_at(segment, zone->head_idx);

    /* The request might have arrived after the clock was read. */
    return first && now > first->since_usec ? now - first->since_usec : 0;
}

/* ---- iteration, bounded by the segment's sizes --------------------------- */

/** @return n: zones 1..n have been configured. */
static inline uint32_t adm_zones_used(const adm_segment_t *segment)
{
    return adm_lesser(atomic_load(&segment->header->zones_used),
                      segment->sizes.zones);
}

/** @return n: children 1..n have been claimed. */
static inline uint32_t adm_children_used(const adm_segment_t *segment)
{
    return adm_lesser(atomic_load(&segment->header->children_used),
                      segment->sizes.children);
}

/** @return n: chunks 0..n-1 have been claimed. */
static inline uint32_t adm_chunks_used(const adm_segment_t *segment)
{
    return adm_lesser(atomic_load(&segment->header->chunks_used),
                      segment->chunks);
}

/** @return the first living child after number *@a idx, which becomes its
 *  number; NULL: none. Start with 0. */
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

/** @return the first ticket of the zone's next chunk, from *@a chunk on and
 *  below @a end; 0: none. *@a chunk becomes the chunk to continue with. */
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

/** Add to a count that is only written under the zone lock. */
static inline void adm_count_locked(atomic_uint *count, int difference)
{
    /* A load and a store are enough: only the lock's owner writes. */
    unsigned value = atomic_load_explicit(count, memory_order_relaxed);

    atomic_store_explicit(count, value + (unsigned)difference,
                          memory_order_relaxed);
}

/** Raise a number that only increases, such as the bound of a loop. */
static inline void adm_raise(atomic_uint *number, unsigned to)
{
    unsigned seen = atomic_load(number);

    while (seen < to && !atomic_compare_exchange_weak(number, &seen, to)) {
    }
}

/** @return the number of a zone. */
static inline uint32_t adm_zone_idx(const adm_segment_t *segment,
                                    const adm_zone_rec_t *zone)
{
    return (uint32_t)(zone - segment->zone_recs) + 1;
}

#endif
