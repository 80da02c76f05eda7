// Who holds up a migration, for the operator who has to decide what to do about it. The statements of others are not told: they may hold
// secrets.
import { type Kysely, type RawBuilder, sql } from "kysely";
import { repeat } from "../../timers/repeat.ts";
import type { Schema } from "../schema.ts";
import type { MigrationRun } from "./migration-run.ts";

/** A session of the database server. What a role may not see of another's sessions is null. */
export interface Session {
  readonly pid: number;
  readonly application: string | null;
  readonly user: string | null;
  /** `active`, `idle in transaction` and so on. */
  readonly state: string | null;
  /** For how long its transaction, or else its state, has lasted. */
  readonly seconds: number | null;
}

/** The columns of a session in `pg_stat_activity`. */
export const sessionColumns = sql<Session>`
  session.pid, session.application_name as application, session.usename as user, session.state,
  extract(epoch from clock_timestamp() - coalesce(session.xact_start, session.state_change))::integer as seconds`;

/** Returns a session as text: `pid 4711 (pg_dump, user backup, active, for 3600 s)`. */
export function describeSession({ pid, application, user, state, seconds }: Session): string {
  const known = [
    application || null,
    user === null ? null : `user ${user}`,
    state,
    seconds === null ? null : `for ${seconds} s`,
  ];
  return `pid ${pid} (${known.filter((each) => each !== null).join(", ")})`;
}

const cancelEveryMs = 100;

/** Looks after statements that may wait. */
export interface StatementWatch {
  /** Ends the watch. Returns the sessions that blocked the statements when it looked last; none if they did not wait. */
  stop(): Promise<readonly Session[]>;
}

interface WatchOptions {
  /** A condition on `pg_stat_activity`, as `waiting`, that selects the session of the statements. */
  readonly waiting: RawBuilder<boolean>;
  readonly everyMs: number;
  readonly onBlocked?: (blockers: readonly Session[]) => void;
}

/** Looks again and again for what blocks statements, and cancels them when the run is stopped. */
export function watchStatements({ db, signal }: MigrationRun, options: WatchOptions): StatementWatch {
  const { waiting, everyMs, onBlocked } = options;
  let blockers: readonly Session[] = [];
  const look = async (): Promise<void> => {
    const found = await readBlockers(db, waiting);
    if (found.length === 0) return;
    blockers = found;
    onBlocked?.(found);
  };
  // What fails is left to the next look.
  const onError = (): void => {};
  let looks = repeat(look, { intervalMs: everyMs, onError });
  const cancel = (): void => {
    void looks.close();
    // Until they have ended: it may come between two of them.
    looks = repeat(() => cancelStatements(db, waiting), { intervalMs: cancelEveryMs, onError });
  };
  signal.addEventListener("abort", cancel);
  if (signal.aborted) cancel();

  return {
    async stop() {
      signal.removeEventListener("abort", cancel);
      await looks.close();
      return blockers;
    },
  };
}

async function readBlockers(db: Kysely<Schema>, waiting: RawBuilder<boolean>): Promise<Session[]> {
  const { rows } = await sql<Session>`
    select distinct ${sessionColumns}
    from pg_stat_activity as waiting
    cross join unnest(pg_blocking_pids(waiting.pid)) as blocking (pid)
    join pg_stat_activity as session on session.pid = blocking.pid
    where ${waiting} and waiting.pid <> pg_backend_pid()
    order by 1`.execute(db);
  return rows;
}

async function cancelStatements(db: Kysely<Schema>, waiting: RawBuilder<boolean>): Promise<void> {
  await sql`
    select pg_cancel_backend(pid) from pg_stat_activity as waiting
    where ${waiting} and pid <> pg_backend_pid()`.execute(db);
}
