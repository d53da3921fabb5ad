/* fleet_view.h - one limit over many servers: what is shown of it.
 * Included by fleet.c and the headers of fleet.
 */
#ifndef FLEET_VIEW_H
#define FLEET_VIEW_H

#include "core/adm.h"
#include "law_fleet.h"

typedef enum adm_fleet_state_t {
    ADM_FLEET_OFF,      /* the limit is not shared */
    ADM_FLEET_LEASED,   /* the share holds */
    ADM_FLEET_LEARNING, /* the same, and the engine learns who has what */
    ADM_FLEET_FALLBACK  /* the lease is over */
} adm_fleet_state_t;

/** @return its word. */
const char *adm_fleet_state_name(adm_fleet_state_t state);

/** What the engine last said, and of the lease. */
typedef struct adm_fleet_t {
    adm_fleet_state_t state;
    uint32_t limit;   /* the least that any server states; 0: not known */
    uint32_t share;   /* of this server */
    uint32_t granted; /* the same and what it still has to give back */
    uint32_t servers;
    uint32_t reserved;        /* of all servers */
    uint32_t wanted;          /* by all servers */
    adm_usec_t lease_usec;    /* that is left */
    adm_usec_t learning_usec; /* that is left */
} adm_fleet_t;

#define ADM_FLEET_ID_ROOM (LAW_FLEET_ID_LENGTH + 1)

/** Who this server is for the engine. In private memory of the parent, which all
 *  processes of the server inherit. */
typedef struct adm_fleet_self_t {
    unsigned char id[ADM_SECRET_LENGTH];
    char predecessor
        [ADM_FLEET_ID_ROOM]; /* the id of the server that ran here before, of
                                          * which no process is left, nor a program;
                                          * "": none */
    int fd; /* by which the next server sees whether a process of this one lives: open for
             * reading, inherited by programs. -1: there is none; 0: not opened yet */
} adm_fleet_self_t;

/** A server begins: with a random id. */
void adm_fleet_begin_self(adm_fleet_self_t *self);

/** This server's name for the engine. */
void adm_fleet_id(const adm_segment_t *segment, const adm_fleet_self_t *self,
                  char id[ADM_FLEET_ID_ROOM]);

/** What there is of the connection with the engine. */
typedef enum adm_engine_state_t {
    ADM_ENGINE_OFF,       /* none is wanted */
    ADM_ENGINE_CONNECTED, /* there is one */
    ADM_ENGINE_LOST       /* there is none */
} adm_engine_state_t;

/** What is counted of it. */
typedef enum adm_engine_event_t {
    ADM_ENGINE_CONNECT, /* there is a connection now */
    ADM_ENGINE_ERROR,   /* there is none now: it ended, or an attempt failed */
    ADM_ENGINE_SYNC,    /* a sync was answered */
    ADM_ENGINE_PUSH,    /* the engine was heard unasked */
    ADM_ENGINE_LATE,  /* of the syncs: it came late, or the clock has jumped */
    ADM_ENGINE_STALE, /* of the syncs: a later one was there before */
    ADM_ENGINE_EVENTS
} adm_engine_event_t;

/** @return its word. */
const char *adm_engine_state_name(adm_engine_state_t state);

/** What happened between the agents of this server and the engine. */
typedef struct adm_engine_t {
    adm_engine_state_t state;
    uint64_t counts[ADM_ENGINE_EVENTS];
    adm_usec_t mean_usec; /* from a sync to its answer */
    adm_usec_t max_usec;
} adm_engine_t;

/** Copy it. No lock; nothing of it is believed. */
void adm_engine_view(const adm_segment_t *segment, adm_engine_t *shown);

/** Copy who shares a zone's limit, this server first. No lock.
 *
 * @param age_usec  how long ago the engine said that
 * @return whether it is known and not being written */
bool adm_engine_who(const adm_segment_t *segment, adm_zone_t zone,
                    law_fleet_who_t *who, adm_usec_t *age_usec);

/** Copy it. No lock; nothing of it is believed. */
void adm_fleet_view(const adm_segment_t *segment, adm_zone_t zone,
                    adm_fleet_t *shown);

#endif
