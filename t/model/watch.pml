/* watch.pml - the events that wake the agent, for Spin.
 *
 * WATCHED children make one request each, which waits until the agent has seen it:
 * then the agent gets a share for it, and it leaves. The agent sleeps while nobody
 * waits. KILLED of the children are killed, each at any step, also in the lock.
 *
 * The labels N1_... name the steps of adm_zone.c and adm_agent.c. -DBREAK_... breaks
 * one rule.
 */
#ifndef KILLED
#define KILLED 0
#endif

#define NOBODY 255
#define AGENT 254

byte owner = NOBODY; /* of the zone's lock */
bit owner_died;
byte waiting;        /* tickets WAITING */
byte queued;         /* the cache of it */
bit watch;           /* for a request that waits */
bit is_called;       /* the agent's word has changed since it read it */
bit has_seen;        /* the agent knows that a request waits */
byte kills = KILLED;

#define OR_KILLED \
    :: atomic { kills > 0 -> kills--; goto killed }
#define UNLESS_KILLED(step) \
    if \
    :: step \
    OR_KILLED \
    fi

/* The next owner derives the cache again. */
inline rebuild()
{
    if
    :: owner_died -> atomic { queued = waiting; owner_died = 0 }
    :: else
    fi
}

/* P16: whenever the lock is free, no event is there that the agent waits for. */
inline release_lock()
{
    atomic {
        assert(owner_died || !(watch && queued > 0)); /* P16 */
        owner = NOBODY
    }
}

proctype child(byte me)
{
    bit is_leaving, must_wake;

critical:
    UNLESS_KILLED(atomic { owner == NOBODY -> owner = me });
    UNLESS_KILLED(atomic { true -> rebuild() });
    UNLESS_KILLED(waiting = (is_leaving -> waiting - 1 : waiting + 1));
    UNLESS_KILLED(queued = waiting);
    if
    :: atomic {
        watch && queued > 0 ->
N2_watch_taken:
        watch = 0;
        must_wake = 1
    }
    :: !(watch && queued > 0)
    OR_KILLED
    fi;
    UNLESS_KILLED(release_lock());
    if
    :: atomic {
        must_wake ->
N3_wake_agent:
        is_called = 1;
        must_wake = 0
    }
    :: !must_wake
    OR_KILLED
    fi;
    if
    :: is_leaving -> goto over
    :: atomic { !is_leaving && has_seen -> is_leaving = 1; goto critical }
    OR_KILLED
    fi;

killed:
    atomic {
        if
        :: owner == me -> owner = NOBODY; owner_died = 1
        :: else
        fi
    }
over:
    skip
}

proctype agent()
{
    do
    :: is_called = 0;
        atomic { owner == NOBODY -> owner = AGENT }
        rebuild();
        has_seen = queued > 0;
#ifdef BREAK_WATCH_UNLOCKED
        release_lock();
        watch = !has_seen;
#else
N1_watch:
        watch = !has_seen;
        release_lock();
#endif
#ifdef BREAK_CALLS_LATE
        is_called = 0;
#endif
end_asleep:
        if
        :: is_called
        /* It looks while somebody waits, until nobody does. */
        :: has_seen && waiting == 0
        /* Its next check, which is needed only after a kill. */
        :: kills < KILLED && waiting > 0 && !has_seen
        fi
    od
}

init
{
    byte n;

    atomic {
        run agent();
        do
        :: n < WATCHED -> run child(n); n++
        :: else -> break
        od
    }
    timeout;
    /* P16: the agent has seen whoever waits. */
    assert(waiting == 0 || has_seen)
}
