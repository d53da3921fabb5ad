/* adm_worker.c - the reserve: limit the workers that zones occupy.
 * Called by adm_ticket and the module.
 */
#include "adm_layout.h"
#include "adm_worker.h"

/* ---- the reserve of the server -------------------------------------------- */

/* @return the workers held, and the workers just being asked for. */
static uint32_t workers_asked(const adm_segment_t *segment)
{
    const adm_child_rec_t *rec;
    uint32_t idx = 0, asked = 0;

    while ((rec = adm_child_next(segment, &idx))) {
        asked += atomic_load(&rec->workers_asked);
    }
    return asked;
}

/* Return a worker taken by adm_worker_take(). */
static void return_worker(adm_child_t *child)
{
    atomic_fetch_sub(&child->rec->workers_held, 1);
    atomic_fetch_sub(&child->segment->header->workers_held, 1);
    atomic_fetch_sub(&child->rec->workers_asked, 1);
}

/* A process first raises workers_asked in its own record: of two that ask
 * concurrently, at least the second to raise the common count sees the other's.
 *
 * The common count is raised before the child's own one, and lowered after it.
 * A kill in between leaves the common count too high, which only costs more
 * summing up of the records.
 */
bool adm_worker_take(adm_child_t *child, bool by_force)
{
    adm_header_rec_t *header = child->segment->header;
    uint32_t cap = atomic_load_explicit(&header->worker_cap,
                                        memory_order_relaxed);
    uint32_t held;

    atomic_fetch_add(&child->rec->workers_asked, 1);
    held = atomic_fetch_add(&header->workers_held, 1) + 1;
    atomic_fetch_add(&child->rec->workers_held, 1);
    if (held > cap && !by_force && !atomic_load(&child->accepts_no_more)
        && workers_asked(child->segment) > cap) {
        return_worker(child);
        return false;
    }
    return true;
}

/* ---- limits of a child --------------------------------------------------- */

void adm_worker_limit_blocked(adm_child_t *child, uint32_t max)
{
    child->blocked_max = max;
}

void adm_worker_limit_connections(adm_child_t *child, uint32_t budget,
                                  uint32_t server_budget, uint32_t per_worker)
{
    child->connection_budget = budget;
    child->server_budget = server_budget;
    child->connections_per_worker = per_worker;
}

void adm_worker_accept_no_more(adm_child_t *child)
{
    atomic_store(&child->accepts_no_more, true);
}

/* @return the connections that a child's requests take. */
static uint64_t connections_of(const adm_child_t *child,
                               const adm_child_rec_t *rec)
{
    uint64_t workers = atomic_load(&rec->workers_held);

    return workers * child->connections_per_worker + atomic_load(&rec->parked)
           + atomic_load(&rec->transfers);
}

/* @return the connections that all requests of this generation take. Older
 * children accept no more connections. */
static uint64_t connections_of_generation(const adm_child_t *child)
{
    const adm_segment_t *segment = child->segment;
    const adm_child_rec_t *rec;
    uint32_t generation = atomic_load(&child->rec->generation);
    uint64_t connections = 0;
    uint32_t idx = 0;

    while ((rec = adm_child_next(segment, &idx))) {
        if (atomic_load(&rec->generation) == generation) {
            connections += connections_of(child, rec);
        }
    }
    return connections;
}

/* Whether @a more connections fit into the budget of this child, or of all. */
static bool has_connections(const adm_child_t *child, uint32_t more)
{
    return atomic_load(&child->accepts_no_more)
           || connections_of(child, child->rec) + more
                  <= child->connection_budget
           || connections_of_generation(child) + more <= child->server_budget;
}

bool adm_worker_has_room(const adm_child_t *child)
{
    return has_connections(child, 1);
}

/* ---- the worker of a ticket ----------------------------------------------- */

void adm_worker_check_room(adm_ticket_t *ticket)
{
    if (ticket->uses_worker
        && !has_connections(ticket->child,
                            ticket->child->connections_per_worker)) {
        ticket->finds_no_room = true;
    }
}

/* Count a worker as blocked, in @a count. While parked requests that hold
 * permits lack a worker, a child must not block its last workers. Otherwise it
 * can: other children accept connections then. A caller counts itself before it
 * checks, so that at least one of two concurrent callers sees the other. */
static bool try_to_count(const adm_child_t *child, atomic_uint *count,
                         const atomic_uint *others)
{
    /* B1_count_itself, B2_look_at_others */
    uint64_t with_it = (uint64_t)atomic_fetch_add(count, 1) + 1;

    if (with_it + atomic_load(others) > child->blocked_max
        && atomic_load(&child->workers_lacking)) {
        atomic_fetch_sub(count, 1);
        return false;
    }
    return true;
}

void adm_worker_note_lacking(adm_child_t *child, uint32_t count)
{
    if (atomic_load(&child->workers_lacking) != count) {
        atomic_store(&child->workers_lacking, count);
    }
}

bool adm_worker_claim_yield(adm_child_t *child)
{
    uint64_t blocked = (uint64_t)atomic_load(&child->rec->workers_blocked)
                       + atomic_load(&child->rec->workers_shared);
    unsigned lacking = atomic_load(&child->workers_lacking);

    return lacking && blocked > child->blocked_max
           && atomic_compare_exchange_strong(&child->workers_lacking, &lacking,
                                             lacking - 1);
}

adm_outcome_t adm_worker_begin_blocking(adm_ticket_t *ticket)
{
    adm_child_t *child = ticket->child;
    adm_child_rec_t *rec = child->rec;

    if (ticket->finds_no_room) {
        return ADM_PARKING;
    }
    if (ticket->uses_worker
        && !try_to_count(child, &rec->workers_blocked, &rec->workers_shared)) {
        return ADM_RESERVE;
    }
    atomic_fetch_add(&rec->blocked, 1);
    ticket->is_blocked = true;
    return ADM_WAITING;
}

void adm_worker_end_blocking(adm_ticket_t *ticket)
{
    if (ticket->is_blocked) {
        ticket->is_blocked = false;
        atomic_fetch_sub(&ticket->child->rec->blocked, 1);
        if (ticket->uses_worker) {
            /* B3_end_blocking */
            atomic_fetch_sub(&ticket->child->rec->workers_blocked, 1);
        }
    }
}

bool adm_worker_take_for(adm_ticket_t *ticket, bool by_force)
{
    if (ticket->uses_worker && !ticket->has_worker) {
        ticket->has_worker = adm_worker_take(ticket->child, by_force);
    }
    return ticket->has_worker == ticket->uses_worker;
}

void adm_worker_give_back(adm_ticket_t *ticket)
{
    if (ticket->has_worker) {
        ticket->has_worker = false;
        return_worker(ticket->child);
    }
}

/* ---- a worker shared by requests ----------------------------------------- */

adm_worker_t adm_worker_occupy(adm_child_t *child)
{
    adm_child_rec_t *rec = child->rec;

    if (!has_connections(child, child->connections_per_worker)) {
        return ADM_WORKER_NO_ROOM;
    }
    if (!adm_worker_take(child, false)) {
        return ADM_WORKER_DENIED;
    }
    if (!try_to_count(child, &rec->workers_shared, &rec->workers_blocked)) {
        return_worker(child);
        return ADM_WORKER_DENIED;
    }
    return ADM_WORKER_NONE;
}

void adm_worker_vacate(adm_child_t *child)
{
    atomic_fetch_sub(&child->rec->workers_shared, 1); /* B4_vacate */
    return_worker(child);
}

bool adm_worker_begin_transfer(adm_child_t *child)
{
    if (!adm_worker_has_room(child)) {
        return false;
    }
    atomic_fetch_add(&child->rec->transfers, 1);
    return true;
}

void adm_worker_end_transfer(adm_child_t *child)
{
    if (adm_child_is_self(child)) {
        atomic_fetch_sub(&child->rec->transfers, 1);
    }
}
