/*
 * A model of how a server keeps its snapshot of an org right, for the model checker Spin. It follows src/access/snapshots,
 * src/database/batch.ts, src/changes/write-in-org.ts and src/identity/refresh-caller.ts. `npm run model` checks it;
 * docs/decisions/0020-revisions-carry-a-token.md says what it shows.
 *
 * There is one org, and one right that a member of it may hold, for example to create projects. The org's change log is in a
 * database that can fail over to an older state, or be restored from a backup, which is the same here. The process Admin is
 * everybody else who writes in the org, through any server.
 *
 * A d_step is one step: a statement of the database, or code of a server between two awaits. Between steps, other processes
 * run. Spin tries every order of the steps, up to the number of revisions and failovers below.
 *
 * Each WEAK_... breaks one rule. scripts/model.ts checks that a property fails then, so that each rule is needed.
 */

/* The number of revisions, in all histories together and with the first one, and of failovers. */
#ifndef REVISIONS
#define REVISIONS 3
#endif
#ifndef FAILOVERS
#define FAILOVERS 1
#endif

/*
 * How often the lock of the org is lost unseen, as while a distributed database moves the org's rows: who holds it goes on, and somebody
 * else gets it. If it can be lost, a transaction that reads a snapshot may also see the log before a move and the tables after it.
 */
#ifndef LOSSES
#define LOSSES 0
#endif

/*
 * The requests, which repeat for ever: Reader, OwnWriter or OtherWriter. If there are two servers, the second request goes to
 * the second one. With OTHER_REQUESTS, other requests may refresh the snapshot of a server at any time. Servers share nothing
 * but the database, so one server with OTHER_REQUESTS and Admin stands for any number of servers and requests.
 */
#ifndef FIRST
#define FIRST Reader
#endif
#ifdef SECOND
#define REQUESTS 2
#else
#define REQUESTS 1
#endif
#ifndef SERVERS
#define SERVERS 1
#endif
#define server_of(request) ((request) % SERVERS)

/* With FILES, servers write their snapshots to files at any time, and lose what they have in memory at any time. */

/* The properties. All are checked unless PROPERTY names one. */
#define ALL 0
#define STATE 1       /* A decision uses exactly the state that the org had at some time since the request arrived. */
#define LOST_GRANT 2  /* A right whose grant a failover lost before the request arrived is not answered "allowed". */
#define REVOCATION 3  /* A right that was revoked before the request arrived is not answered "allowed". */
#define OWN_WRITE 4   /* A write in the org is committed only if its author holds the right in the log before it. */
#define OTHER_WRITE 5 /* A write in another org is committed only if its author held the right since it took its lock. */
#define NUMBER 6      /* A write gets the number after that of the revision before it, so that no log has a number twice. */
#ifndef PROPERTY
#define PROPERTY ALL
#endif
#define require(property, condition) assert((PROPERTY != ALL && PROPERTY != property) || (condition))

#define none 0
#define bit(x) (1 << (x))

/* ---------------------------------------------------------------------------------------------------------------- database */

/*
 * A revision is known by its token: 1, 2, 3, ... in the order in which they are committed. The revisions of all histories form
 * a tree; the log has those from the head to the root. A failover moves the head back.
 */
byte head = 1;
byte last_token = 1;
byte parent[REVISIONS + 1];
byte number[REVISIONS + 1];
/* The set of the revisions at which the right is held. */
byte held;
byte failovers;
#if LOSSES > 0
byte losses;
#endif
/* The request whose transaction holds the org's lock. */
byte lock_holder;

#define is_held(revision) ((held & bit(revision)) != 0)
/* An entry of the log says what it changed, not what the result is. */
#define is_changed(revision) (is_held(revision) != is_held(parent[revision]))

#ifdef WEAK_NUMBERS
#define is_same(a, b) (number[a] == number[b])
#else
#define is_same(a, b) ((a) == (b))
#endif

/* ----------------------------------------------------------------------------------------------------------------- servers */

/* The revision of the snapshot, or none; and what the snapshot says about the right. */
byte snapshot[SERVERS];
bool right[SERVERS];
/* The set of the requests that wait for the next statement that reads the head. */
byte waiting[SERVERS];
#ifdef FILES
/* The revision of the snapshot in the server's file, or none; and what that snapshot says about the right. */
byte file[SERVERS];
bool file_right[SERVERS];
#endif

/* ---------------------------------------------------------------------------------------------------------------- requests */

/* The head that the request has read. */
byte head_read[REQUESTS];
/*
 * Servers compare the times at which two reads started. Here: whether the last read that verified the snapshot, and the read of
 * the snapshot that is under way, started after the request's read of the head.
 */
bool verified_since[REQUESTS];
bool refresh_is_later[REQUESTS];

/* For the properties: the set of the heads that the log has had since the request arrived; empty while there is none. */
byte window[REQUESTS];
#define is_here(request) (server_of(request) == server && window[request] != 0)
/* For the properties: whether the right is not held because a failover has lost its grant. */
bool grant_lost;

/* Used only within one step, and the same between steps. */
byte each = REQUESTS;
byte found;

/* ---------------------------------------------------------------------------------------------------------------- database */

inline move_head(revision) {
  head = revision;
  for (each : 0 .. REQUESTS - 1) {
    if
    :: window[each] != 0 -> window[each] = window[each] | bit(head)
    :: else
    fi
  }
}

/* Commits a write that has read the revision `base` under its lock: appends an entry to the log. */
inline append(base, holds) {
  last_token++;
  parent[last_token] = head;
  number[last_token] = number[base] + 1;
  require(NUMBER, number[last_token] == number[head] + 1);
  if
  :: holds -> held = held | bit(last_token); grant_lost = false
  :: else
  fi;
  move_head(last_token);
  printf("commit: number %d, token %d; the right is held: %d\n", number[head], head, is_held(head))
}

/* Finds the entry of this number in the log up to `revision`. */
inline find_entry(revision, wanted) {
  found = revision;
  do
  :: number[found] > wanted -> found = parent[found]
  :: else -> break
  od
}

/* Grants, revokes, or changes something else. */
proctype Admin() {
end:
  do
  :: d_step { last_token < REVISIONS && lock_holder == none -> append(head, true) }
  :: d_step { last_token < REVISIONS && lock_holder == none -> append(head, false) }
  od
}

/* Transactions under way fail: they began before `failovers` was counted up. */
proctype Failover() {
  byte survivor;
end:
  do
  :: atomic {
       failovers < FAILOVERS && head != 1 ->
       survivor = parent[head];
       do
       :: survivor != 1 -> survivor = parent[survivor]
       :: break
       od;
       d_step {
         failovers++;
         lock_holder = none;
         grant_lost = !is_held(survivor) && (grant_lost || is_held(head));
         move_head(survivor);
         survivor = none;
         printf("failover: back to number %d, token %d; the right is held: %d\n", number[head], head, is_held(head))
       }
     }
  od
}

#if LOSSES > 0
/* The request that holds the lock does not notice. */
proctype LockLoss() {
end:
  do
  :: d_step {
       losses < LOSSES && lock_holder != none ->
       losses++;
       printf("request %d loses the lock unseen\n", lock_holder - 1);
       lock_holder = none
     }
  od
}
#endif

/* --------------------------------------------------------------------------------------------------------------- snapshots */

#ifdef WEAK_AHEAD
#define is_ahead(request) (number[snapshot[server]] >= number[head_read[request]])
#else
#define is_ahead(request) false
#endif

/* Whether the snapshot may be used for the request: isConfirmed. */
#define is_confirmed(request) \
  (snapshot[server] != none && \
   (is_same(snapshot[server], head_read[request]) || verified_since[request] || is_ahead(request)))

/* Whether a refresh of the snapshot may start. */
#ifdef OTHER_REQUESTS
#define is_wanted true
#elif defined(SECOND)
#define is_wanted (waits_for_refresh(0) || waits_for_refresh(1))
#else
#define is_wanted waits_for_refresh(0)
#endif
#define waits_for_refresh(request) (server_of(request) == server && head_read[request] != none && !is_confirmed(request))

inline start_refresh() {
  for (each : 0 .. REQUESTS - 1) {
    refresh_is_later[each] = refresh_is_later[each] || is_here(each)
  }
}

inline end_refresh() {
  for (each : 0 .. REQUESTS - 1) {
    if
    :: is_here(each) ->
#ifdef WEAK_TIME_OF_RESULT
       verified_since[each] = true;
#else
       verified_since[each] = refresh_is_later[each];
#endif
       refresh_is_later[each] = false
    :: else
    fi
  };
  printf("server %d: snapshot verified at number %d, token %d\n", server, number[snapshot[server]], snapshot[server])
}

#ifdef FILES
#define has_file (file[server] != none)
#define is_lost  (has_file && is_wanted && snapshot[server] != none)

/* Only a whole snapshot is written: not one that a change has left between two revisions. */
proctype Files(byte server) {
end:
  do
  :: d_step {
       snapshot[server] != none && file[server] != snapshot[server] ->
       file[server] = snapshot[server];
       file_right[server] = right[server]
     }
  od
}
#endif

/* Advances the snapshot by the log, or rebuilds it from the tables: advanceSnapshot and readSnapshot. */
proctype Refresh(byte server) {
  byte last, built;
  bool built_right;
#if LOSSES > 0
  byte begun;
#endif
end:
  do
  :: d_step { is_wanted && snapshot[server] != none -> start_refresh() };
     /* One statement returns the entry of the snapshot's own revision, if the log has it, and all entries after it. */
     d_step {
       last = head;
       find_entry(head, number[snapshot[server]]);
       if
#ifndef WEAK_OWN_REVISION
       :: !is_same(found, snapshot[server]) -> last = none
#endif
       :: else
       fi;
       found = none
     };
#ifdef WEAK_TWO_STATEMENTS
     last = (last == none -> none : head);
#endif
     if
     :: last == none -> d_step { snapshot[server] = none; right[server] = false }
     :: else ->
        /* Requests can see the snapshot between two entries. */
        do
        :: d_step {
             number[snapshot[server]] < number[last] ->
             find_entry(last, number[snapshot[server]] + 1);
             right[server] = (is_changed(found) -> is_held(found) : right[server]);
             snapshot[server] = found;
             found = none
           }
        :: d_step { number[snapshot[server]] >= number[last] -> last = none; end_refresh() }; break
        od
     fi
#ifdef FILES
  /* The server ends and starts again, or evicts the snapshot. */
  :: d_step { is_lost -> snapshot[server] = none; right[server] = false }
  /* The snapshot in the file is advanced before anything sees it. */
  :: d_step {
       is_wanted && snapshot[server] == none && has_file ->
       start_refresh();
       built = file[server];
       built_right = file_right[server]
     };
     d_step {
       last = head;
       find_entry(head, number[built]);
       if
#ifdef WEAK_FILE
       :: !is_same(found, built) -> last = built
#else
       :: !is_same(found, built) -> last = none
#endif
       :: else
       fi;
       found = none
     };
     if
     :: last == none -> d_step { file[server] = none; file_right[server] = false; built = none; built_right = false }
     :: else ->
        d_step {
          do
          :: number[built] < number[last] ->
             find_entry(last, number[built] + 1);
             built_right = (is_changed(found) -> is_held(found) : built_right);
             built = found;
             found = none
          :: else -> break
          od;
          last = none;
          snapshot[server] = built;
          right[server] = built_right;
          built = none;
          built_right = false;
          end_refresh()
        }
     fi
#endif
  :: d_step { is_wanted && snapshot[server] == none -> start_refresh() };
#if LOSSES > 0
     /* The transaction may see two states, so it reads the head again at its end. A failover ends it. */
     d_step { begun = failovers; built = head };
     built_right = is_held(head);
     d_step {
       if
#ifndef WEAK_END
       :: head != built || begun != failovers
#endif
       :: else -> snapshot[server] = built; right[server] = built_right; end_refresh()
       fi;
       begun = 0;
       built = none;
       built_right = false
     }
#else
     /* One repeatable-read transaction sees one state. */
#ifdef WEAK_TWO_TRANSACTIONS
     built = head;
     built_right = is_held(head);
#else
     d_step { built = head; built_right = is_held(head) };
#endif
     d_step {
       snapshot[server] = built;
       right[server] = built_right;
       built = none;
       built_right = false;
       end_refresh()
     }
#endif
  od
}

/* ---------------------------------------------------------------------------------------------------------------- requests */

inline arrive() {
  d_step {
    window[request] = bit(head);
    waiting[server] = waiting[server] | bit(request);
    printf("request %d arrives at server %d\n", request, server)
  }
}

/* The request's read of the head starts: what verified the snapshot before does not count. */
inline forget_times(reader) {
  verified_since[reader] = false;
  refresh_is_later[reader] = false
}

/* Starts a statement for all requests of the server that are waiting, unless the statement of another request serves this one. */
inline read_head() {
  if
  :: d_step {
       (waiting[server] & bit(request)) != 0 ->
       batch = waiting[server];
       waiting[server] = 0;
       for (each : 0 .. REQUESTS - 1) {
         if
         :: (batch & bit(each)) != 0 -> forget_times(each)
         :: else
         fi
       }
     };
     result = head;
     d_step {
#ifdef WEAK_JOINED_STATEMENT
       batch = batch | waiting[server];
       waiting[server] = 0;
#endif
       for (each : 0 .. REQUESTS - 1) {
         if
         :: (batch & bit(each)) != 0 ->
            head_read[each] = result;
            printf("request %d has read the head: number %d, token %d\n", each, number[result], result)
         :: else
         fi
       };
       batch = 0;
       result = none
     }
  :: head_read[request] != none
  fi
}

/* Waits until the snapshot is confirmed, and decides from it. */
inline decide() {
  d_step {
    is_confirmed(request) ->
    allowed = right[server];
    printf("request %d decides at number %d, token %d; ", request, number[snapshot[server]], snapshot[server]);
    printf("the right is held: %d\n", allowed);
    require(STATE, (window[request] & bit(snapshot[server])) != 0 && right[server] == is_held(snapshot[server]));
    require(LOST_GRANT, !allowed || (window[request] & held) != 0 || !grant_lost);
    require(REVOCATION, !allowed || (window[request] & held) != 0 || grant_lost)
  }
}

inline leave() {
  d_step {
    window[request] = 0;
    head_read[request] = none;
    forget_times(request);
    allowed = false
  }
}

proctype Reader(byte request; byte server) {
  byte batch, result;
  bool allowed;
  do
  :: arrive();
     read_head();
     decide();
     leave()
  od
}

#ifdef WEAK_TRANSACTIONS
#define has_failed false
#else
#define has_failed (begun != failovers)
#endif

#ifdef WEAK_TIME_OF_ARRIVAL
#define keeps_time (head_read[request] == head)
#else
#define keeps_time false
#endif

#ifdef WEAK_HEAD
#define is_compared(base) true
#else
#define is_compared(base) is_same(head, base)
#endif

/* Writes in this org. */
proctype OwnWriter(byte request; byte server) {
  byte batch, result, begun;
  bool allowed;
  do
  :: arrive();
     read_head();
     decide();
     if
     :: allowed ->
        /* The statement that takes the lock returns the head. It counts as a read that starts when the lock has been taken. */
        d_step {
          lock_holder == none ->
          lock_holder = request + 1;
          begun = failovers;
          window[request] = bit(head);
          if
          :: !keeps_time -> forget_times(request)
          :: else
          fi;
          head_read[request] = head;
          printf("request %d has the lock: number %d, token %d\n", request, number[head], head)
        };
#ifndef WEAK_ONE_DECISION
        decide();
#endif
        /* Commits, if the head is the one that was read under the lock; if not, the write starts again. */
        d_step {
          if
          :: allowed && !has_failed && is_compared(head_read[request]) ->
             require(OWN_WRITE, is_held(head));
             if
             :: last_token < REVISIONS -> append(head_read[request], is_held(head))
             :: else
             fi
          :: else
          fi;
          lock_holder = (lock_holder == request + 1 -> none : lock_holder);
          begun = 0
        }
     :: else
     fi;
     leave()
  od
}

/* Writes in another org of the same database, whose lock nobody here waits for. */
proctype OtherWriter(byte request; byte server) {
  byte batch, result, begun;
  bool allowed;
  do
  :: arrive();
     read_head();
     decide();
     if
     :: allowed ->
        d_step {
          begun = failovers;
          window[request] = bit(head);
#ifndef WEAK_HEAD_BEFORE_LOCK
          head_read[request] = none;
          waiting[server] = waiting[server] | bit(request);
#endif
          printf("request %d has the lock of the other org\n", request)
        };
#ifndef WEAK_ONE_DECISION
        read_head();
        decide();
#endif
        /* Commits. */
        d_step {
          if
          :: allowed && !has_failed -> require(OTHER_WRITE, (window[request] & held) != 0)
          :: else
          fi;
          begun = 0
        }
     :: else
     fi;
     leave()
  od
}

init {
  atomic {
    number[1] = 1;
    if
    :: held = bit(1)
    :: held = 0
    fi;
    printf("number 1, token 1; the right is held: %d\n", is_held(1));
    run Admin();
    run Failover();
#if LOSSES > 0
    run LockLoss();
#endif
    run Refresh(0);
#ifdef FILES
    run Files(0);
#endif
#if SERVERS > 1
    run Refresh(1);
#endif
    run FIRST(0, server_of(0));
#ifdef SECOND
    run SECOND(1, server_of(1))
#endif
  }
}
