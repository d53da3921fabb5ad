/* fleet_view.h - limits across servers: what the outputs show.
 * Included by fleet.c and the headers of fleet.
 */
#ifndef FLEET_VIEW_H
#define FLEET_VIEW_H

#include "core/adm.h"
#include "law_fleet.h"

typedef enum adm_fleet_state_t {
    ADM_FLEET_OFF,      /* the limit is not shared */
    ADM_FLEET_LEASED,   /* the share is valid */
    ADM_FLEET_LEARNING, /* valid; the engine recovers from a restart */
    ADM_FLEET_FALLBACK  /* the lease has expired */
} adm_fleet_state_t;

/** @return the state's name in the outputs. */
const char *adm_fleet_state_name(adm_fleet_state_t state);

/** The engine's last reply, and the lease. */
typedef struct adm_fleet_t {
    adm_fleet_state_t state;
    uint32_t limit;   /* lowest of all servers; 0: unknown */
    uint32_t share;   /* permits that this server may use */
    uint32_t granted; /* share plus permits yet to be returned */
    uint32_t servers;
    uint32_t reserved;        /* granted to all servers */
    uint32_t wanted;          /* by all servers */
    adm_usec_t lease_usec;    /* remaining */
    adm_usec_t learning_usec; /* remaining */
} adm_fleet_t;

#define ADM_FLEET_ID_ROOM (LAW_FLEET_ID_LENGTH + 1)

/** Identity of this server for the engine. Private memory of the parent, inherited by
 *  all processes of the server. */
typedef struct adm_fleet_self_t {
    unsigned char id[ADM_SECRET_LENGTH];
    char predecessor[ADM_FLEET_ID_ROOM]; /* id of the server that ran here
                                          * before and has ended with all its
                                          * programs; "": none */
    int fd; /* FIFO of fleet_predecessor.c, open for reading and inherited by
             * programs; -1: none; 0: not opened yet */
} adm_fleet_self_t;

/** Initialize an identity with a random id. */
void adm_fleet_begin_self(adm_fleet_self_t *self);

/** Write this server's id for the engine: hexadecimal digits. */
void adm_fleet_id(const adm_segment_t *segment, const adm_fleet_self_t *self,
                  char id[ADM_FLEET_ID_ROOM]);

/** State of the connection to the engine. */
typedef enum adm_engine_state_t {
    ADM_ENGINE_OFF, /* no zone is shared */
    ADM_ENGINE_CONNECTED,
    ADM_ENGINE_LOST
} adm_engine_state_t;

/** Counted events. */
typedef enum adm_engine_event_t {
    ADM_ENGINE_CONNECT, /* connected */
    ADM_ENGINE_ERROR,   /* connection lost, or attempt failed */
    ADM_ENGINE_SYNC,    /* reply received */
    ADM_ENGINE_PUSH,    /* message received that is not a reply */
    ADM_ENGINE_LATE,    /* reply: the sync was late, or a clock has jumped */
    ADM_ENGINE_STALE,   /* reply: the engine has seen a later sync */
    ADM_ENGINE_EVENTS
} adm_engine_event_t;

/** @return the state's name in the outputs. */
const char *adm_engine_state_name(adm_engine_state_t state);

/** Statistics of the connection, summed over all agents of this server. */
typedef struct adm_engine_t {
    adm_engine_state_t state;
    uint64_t counts[ADM_ENGINE_EVENTS];
    adm_usec_t mean_usec; /* round trip of a sync */
    adm_usec_t max_usec;
} adm_engine_t;

/** Copy the statistics. No lock; the values can be anything. */
void adm_engine_view(const adm_segment_t *segment, adm_engine_t *shown);

/** Copy the list of the servers that share a zone's limit, this server first. No
 *  lock.
 *
 * @param age_usec  set to the age of the list
 * @return false if there is no list, or it is being written. */
bool adm_engine_servers(const adm_segment_t *segment, adm_zone_t zone,
                        law_fleet_who_t *who, adm_usec_t *age_usec);

/** Copy a zone's share. No lock; the values can be anything. */
void adm_fleet_view(const adm_segment_t *segment, adm_zone_t zone,
                    adm_fleet_t *shown);

#endif
