import { sql } from "kysely";
import type { Database } from "../database/database.ts";
import { repeat } from "../timers/repeat.ts";
import type { Caller } from "./caller.ts";

/** Collects which API keys are used and writes that to the database at intervals, so that a read causes no write. */
export interface LastUse {
  record(caller: Caller): void;
  /** Writes what is pending, and stops. */
  close(): Promise<void>;
}

interface Use {
  readonly caller: Caller;
  readonly time: Date;
}

export function createLastUse(
  database: Database,
  intervalMs: number,
  onError: (error: unknown) => void,
  now: () => Date = () => new Date(),
): LastUse {
  let used = new Map<string, Use>();

  const flush = async (): Promise<void> => {
    const batch = used;
    used = new Map();
    if (batch.size === 0) return;
    try {
      await writeLastUse(database, [...batch.values()]);
    } catch (error) {
      // Written with the next batch.
      used = new Map([...batch, ...used]);
      onError(error);
    }
  };

  const repetition = repeat(flush, { intervalMs, onError });
  return {
    record(caller) {
      // Calls that came together have the same caller.
      if (used.get(caller.credentialId)?.caller !== caller) used.set(caller.credentialId, { caller, time: now() });
    },
    async close() {
      await repetition.close();
      await flush();
    },
  };
}

async function writeLastUse(database: Database, uses: readonly Use[]): Promise<void> {
  const orgs = uses.map(({ caller }) => caller.orgId);
  const members = uses.map(({ caller }) => caller.memberId);
  const keys = uses.map(({ caller }) => caller.credentialId);
  const times = uses.map(({ time }) => time);
  await sql`
    update api_keys set last_use_time = date_trunc('minute', used.time)
    from unnest(${orgs}::uuid[], ${members}::uuid[], ${keys}::uuid[], ${times}::timestamptz[])
      as used (org_id, member_id, id, time)
    where api_keys.org_id = used.org_id and api_keys.member_id = used.member_id and api_keys.id = used.id
      and (last_use_time is null or last_use_time < date_trunc('minute', used.time))`.execute(database.writes);
}
