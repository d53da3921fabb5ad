/* adversary.h - what the enemy, the servers and the engine of adversary.c share. */
#ifndef ADVERSARY_H
#define ADVERSARY_H

#include "fleet/law_fleet.h"

#define KEY "adm:{zone}"
#define MESSAGES 64

/** A sync, its answer or a push, on its way. */
typedef struct message_t {
    char id[16];
    char predecessor[16];
    int run;
    int connection;
    law_fleet_sync_t sync;
    law_fleet_reply_t reply;
    law_fleet_push_t push;
} message_t;

typedef struct box_t {
    message_t messages[MESSAGES];
    unsigned count;
} box_t;

/** Put it in; what there is no room for is lost. */
void put(box_t *box, const message_t *message);

/** Say why, and end. */
void die(const char *why) __attribute__((noreturn));

/** The engine: its run, how often it died, and what it has said. */
extern int run;
extern unsigned deaths;
extern box_t replies, pushes;

/** Find Redis at its socket, and load the script without a rule; "": with all. */
void engine_open(const char *socket, const char *without);

/** Forget all. */
void engine_begin(void);

/** Execute a sync at a time, in milliseconds: its answer and pushes are put. */
void engine_execute(message_t *message, int64_t at);

/** Note what it knows now. */
void engine_take_snapshot(void);

/** It dies, and begins again: 0 with its data, 1 without, 2 with the snapshot's. */
void engine_restart(unsigned how);

void engine_close(void);

#endif
