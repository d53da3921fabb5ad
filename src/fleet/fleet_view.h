/* fleet_view.h - limits across servers: what the outputs show.
 * Included by fleet.c and the headers of fleet.
 */
#ifndef FLEET_VIEW_H
#define FLEET_VIEW_H

#include "core/adm.h"
#include "law_fleet.h"

typedef enum fleet_state_t {
    FLEET_OFF,      /* the limit is not shared */
    FLEET_LEASED,   /* the share is valid */
    FLEET_LEARNING, /* valid; the engine recovers from a restart */
    FLEET_FALLBACK  /* the lease has expired */
} fleet_state_t;

/** @return the state's name in the outputs. */
const char *fleet_state_name(fleet_state_t state);

/** The engine's last reply, and the lease. */
typedef struct fleet_t {
    fleet_state_t state;
    uint32_t share;           /* permits that this server may use */
    law_fleet_reply_t reply;  /* the engine's last one; zeros: none */
    adm_usec_t lease_usec;    /* remaining */
    adm_usec_t learning_usec; /* remaining */
} fleet_t;

#define FLEET_ID_ROOM (LAW_FLEET_ID_LENGTH + 1)

/** Identity of this server for the engine. Private memory of the parent, inherited by
 *  all processes of the server. */
typedef struct fleet_self_t {
    unsigned char id[ADM_SECRET_LENGTH];
    char predecessor[FLEET_ID_ROOM]; /* id of the server that ran here
                                          * before and has ended with all its
                                          * programs; "": none */
    int fd; /* FIFO of fleet_predecessor.c, open for reading and inherited by
             * programs; -1: none; 0: not opened yet */
} fleet_self_t;

/** Initialize an identity with a random id. */
void fleet_begin_self(fleet_self_t *self);

/** Write this server's id for the engine: hexadecimal digits. */
void fleet_id(const adm_segment_t *segment, const fleet_self_t *self,
              char id[FLEET_ID_ROOM]);

/** State of the connection to the engine. */
typedef enum fleet_engine_state_t {
    FLEET_ENGINE_OFF, /* no zone is shared */
    FLEET_ENGINE_CONNECTED,
    FLEET_ENGINE_LOST
} fleet_engine_state_t;

/** Counted events. */
typedef enum fleet_engine_event_t {
    FLEET_ENGINE_CONNECT, /* connected */
    FLEET_ENGINE_ERROR,   /* connection lost, or attempt failed */
    FLEET_ENGINE_SYNC,    /* reply received */
    FLEET_ENGINE_PUSH,    /* message received that is not a reply */
    FLEET_ENGINE_LATE,    /* reply: the sync was late, or a clock has jumped */
    FLEET_ENGINE_STALE,   /* reply: the engine has seen a later sync */
    FLEET_ENGINE_EVENTS
} fleet_engine_event_t;

/** @return the state's name in the outputs. */
const char *fleet_engine_state_name(fleet_engine_state_t state);

/** Statistics of the connection, summed over all agents of this server. */
typedef struct fleet_engine_t {
    fleet_engine_state_t state;
    uint64_t counts[FLEET_ENGINE_EVENTS];
    adm_usec_t mean_usec; /* round trip of a sync */
    adm_usec_t max_usec;
} fleet_engine_t;

/** Copy the statistics. No lock; the values can be anything. */
void fleet_engine_view(const adm_segment_t *segment, fleet_engine_t *shown);

/** Copy the list of the servers that share a zone's limit, this server first. No
 *  lock.
 *
 * @param age_usec  set to the age of the list
 * @return false if there is no list, or it is being written. */
bool fleet_engine_servers(const adm_segment_t *segment, adm_zone_t zone,
                          law_fleet_who_t *who, adm_usec_t *age_usec);

/** Copy a zone's share. No lock; the values can be anything. */
void fleet_view(const adm_segment_t *segment, adm_zone_t zone, fleet_t *shown);

#endif
