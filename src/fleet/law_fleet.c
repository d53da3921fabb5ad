/* law_fleet.c - the server's side of the protocol that shares a limit. */
#include "law_fleet.h"

#include "core/adm_number.h"

#define MSEC INT64_C(1000)

/* Time between two syncs while a request waits. */
#define PACE_USEC (200 * MSEC)

/* Minimum time between two syncs. It doubles with each sync that repeats the previous
 * one and changes nothing, up to PACE_USEC, so that a disagreement causes no flood. */
#define GAP_USEC (MSEC / 4)
#define FUTILE_MOST 10

/* R13: no valid generation is this far ahead of the engine's time. */
#define AHEAD_MSEC (INT64_C(24) * 3600 * 1000)

/* A server that is idle for this long returns its share. */
#define IDLE_USEC (1000 * MSEC)

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

void law_fleet_begin(law_fleet_t *fleet, int64_t now)
{
    *fleet = (law_fleet_t){ .sequence = (uint64_t)later(now, 0) };
}

void law_fleet_connected(law_fleet_t *fleet, bool is_new_run,
                         int64_t engine_msec, int64_t now)
{
    if (is_new_run) {
        fleet->gen = 0;
        fleet->has_reply = false;
    }
    fleet->engine_msec = engine_msec;
    fleet->engine_at = now;
    fleet->sent_at = 0;
    fleet->synced_at = 0;
    fleet->futile = 0;
}

void law_fleet_lost(law_fleet_t *fleet)
{
    fleet->sent_at = 0;
    fleet->synced_at = 0; /* the next sync is due immediately */
}

/* ---- syncs ---------------------------------------------------------------- */

/* Keep all; but none beyond those in use after IDLE_USEC without a request, or if other
 * servers are short and no request waits here. */
uint32_t law_fleet_keep(law_fleet_t *fleet, const law_fleet_work_t *work,
                        int64_t now)
{
    if (work->active || work->queued) {
        fleet->idle_since = 0;
        return fleet->is_tight && !work->queued ? 0 : LAW_FLEET_AS_BEFORE;
    }
    if (fleet->idle_since == 0) {
        fleet->idle_since = now;
    }
    return fleet->is_tight || now - fleet->idle_since >= IDLE_USEC
               ? 0
               : LAW_FLEET_AS_BEFORE;
}

/* @return the permits that this server reports as its own (rule R1 of
 * docs/dev/fleet.md). The server never exceeds them without another sync. */
static uint32_t promise(const law_fleet_work_t *work)
{
    return adm_greater(work->share, work->active);
}

/* @return permits in use, and one per waiting request if the other limits allow it. */
static uint32_t want(const law_fleet_work_t *work)
{
    uint32_t sum = work->active + work->queued;

    return adm_greater(adm_lesser(sum, work->other_limit), work->active);
}

/* @return whether the last sync had the content that a sync would have now. */
static bool is_reported(const law_fleet_t *fleet, const law_fleet_work_t *work)
{
    return promise(work) == fleet->sent_has && want(work) == fleet->sent_want
           && (work->queued != 0) == (fleet->sent_queued != 0);
}

static int64_t min_gap(const law_fleet_t *fleet, const law_fleet_work_t *work)
{
    unsigned futile = is_reported(fleet, work) ? fleet->futile : 0;
    int64_t wait = futile < FUTILE_MOST ? GAP_USEC << futile : PACE_USEC;

    return wait < PACE_USEC ? wait : PACE_USEC;
}

/* @return whether to send a sync before the regular one (docs/dev/fleet.md, "When a
 * server sends a sync"): permits can be given back; or requests have started to wait
 * while the whole share is in use; or these requests need more permits than the last sync
 * asked for, and the engine has not reported a shortage. */
static bool must_sync_early(const law_fleet_t *fleet,
                            const law_fleet_work_t *work)
{
    bool is_full = work->active >= work->share;

    return promise(work) < fleet->granted
           || (work->queued && is_full && !fleet->sent_queued)
           || (work->queued && is_full && !fleet->is_short
               && want(work) > fleet->sent_want);
}

/* A third of the lease after the last sync; PACE_USEC if a request waits, or waited then;
 * min_gap() for an early sync, or to return the share of an idle server. */
int64_t law_fleet_due(const law_fleet_t *fleet, const law_fleet_terms_t *terms,
                      const law_fleet_work_t *work, int64_t now)
{
    int64_t due = fleet->synced_at + terms->lease_usec / 3;

    if (fleet->sent_at != 0) {
        return now + terms->lease_usec; /* the engine's timeout is shorter */
    }
    if (work->queued || fleet->sent_queued) {
        due = fleet->synced_at + PACE_USEC;
    }
    if (must_sync_early(fleet, work)
        && fleet->synced_at + min_gap(fleet, work) < due) {
        due = fleet->synced_at + min_gap(fleet, work);
    }
    if (!work->active && !work->queued && work->share > 0
        && fleet->idle_since != 0 && fleet->idle_since + IDLE_USEC < due) {
        due = later(fleet->idle_since + IDLE_USEC,
                    fleet->synced_at + min_gap(fleet, work));
    }
    return due;
}

void law_fleet_fill_sync(law_fleet_t *fleet, const law_fleet_terms_t *terms,
                         const law_fleet_work_t *work, bool leaves, int64_t now,
                         law_fleet_sync_t *sync)
{
    *sync = (law_fleet_sync_t){
        .sequence = ++fleet->sequence,
        .gen_seen = fleet->gen,
        .has = promise(work),
        .want = leaves ? 0 : want(work),
        .oldest_msec = work->queued ? later(work->oldest_usec, 0) / MSEC : -1,
        .terms = *terms,
        .engine_msec = fleet->engine_msec,
        .age_msec = (now - fleet->engine_at) / MSEC,
        .span_msec = fleet->span_msec,
        .leaves = leaves
    };
    fleet->futile = is_reported(fleet, work)
                        ? fleet->futile + (fleet->futile < FUTILE_MOST)
                        : 1;
    fleet->sent_has = sync->has;
    fleet->sent_want = sync->want;
    fleet->sent_queued = work->queued;
    fleet->sent_at = now;
    fleet->synced_at = now;
}

/* ---- replies and pushes --------------------------------------------------- */

/* R6: a tenth shorter than at the engine, for clocks that run at different
 * speeds. */
static int64_t lease_from(const law_fleet_terms_t *terms, int64_t sent_at)
{
    return sent_at + terms->lease_usec / 10 * 9;
}

/* Store a grant. A change, or a request to return permits, resets the minimum gap. */
static void note_grant(law_fleet_t *fleet, int64_t gen, uint32_t granted,
                       uint32_t target, bool is_tight)
{
    if (granted != fleet->granted || is_tight != fleet->is_tight
        || target < granted) {
        fleet->futile = 0;
    }
    fleet->gen = gen;
    fleet->granted = granted;
    fleet->is_tight = is_tight;
}

bool law_fleet_accept_reply(law_fleet_t *fleet, const law_fleet_terms_t *terms,
                            const law_fleet_reply_t *reply, int64_t now,
                            law_fleet_share_t *share)
{
    int64_t sent_at = fleet->sent_at;

    if (sent_at == 0) {
        return false;
    }
    fleet->sent_at = 0;
    fleet->engine_msec = reply->engine_msec;
    fleet->engine_at = now;
    if (reply->status == LAW_FLEET_STALE && reply->sequence > fleet->sequence) {
        fleet->sequence = reply->sequence;
    }
    /* If the reply took as long as the lease, the lease has expired. */
    if (reply->status != LAW_FLEET_OK || now >= lease_from(terms, sent_at)) {
        return false;
    }
    fleet->has_reply = true;
    fleet->span_msec = reply->span_msec;
    /* A later push might have granted all that the sync asked for. */
    fleet->is_short = reply->is_short
                      && (reply->gen >= fleet->gen
                          || fleet->granted < fleet->sent_want);
    fleet->until = lease_from(terms, sent_at);
    share->until_usec = fleet->until;
    share->share = LAW_FLEET_AS_BEFORE;
    if (reply->gen >= fleet->gen) {
        note_grant(fleet, reply->gen, adm_lesser(reply->granted, terms->limit),
                   reply->target, reply->is_tight);
        share->share = adm_lesser(reply->target, terms->limit);
    }
    return true;
}

/* R13: after a forged push with a huge generation, all later replies would look
 * old. */
static bool is_credible(const law_fleet_t *fleet, int64_t gen, int64_t now)
{
    int64_t engine_msec = fleet->engine_msec + (now - fleet->engine_at) / MSEC;

    return gen <= engine_msec + AHEAD_MSEC;
}

bool law_fleet_accept_push(law_fleet_t *fleet, const law_fleet_terms_t *terms,
                           const law_fleet_push_t *push, int64_t now,
                           law_fleet_share_t *share)
{
    /* R9, R3. A push does not extend a lease. */
    if (!fleet->has_reply || push->gen <= fleet->gen || now >= fleet->until
        || !is_credible(fleet, push->gen, now)) {
        return false;
    }
    note_grant(fleet, push->gen, adm_lesser(push->granted, terms->limit),
               push->target, push->is_tight);
    if (push->granted >= fleet->sent_want) {
        fleet->is_short = false;
    }
    share->share = adm_lesser(push->target, terms->limit);
    share->until_usec = fleet->until;
    return true;
}
