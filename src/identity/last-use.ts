import { sql } from "kysely";
import type { Database } from "../database/database.ts";
import { repeat } from "../timers/repeat.ts";
import type { Runs } from "../timers/runs.ts";
import type { Caller } from "./caller.ts";

/** Collects which API keys are used and writes that to the database at intervals, so that a read causes no write. */
export interface LastUse {
  record(caller: Caller): void;
  /** How the writes have gone. */
  readonly runs: Readonly<Runs>;
  /** Writes what is pending, and stops. */
  close(): Promise<void>;
}

export function createLastUse(database: Database, intervalMs: number, onError: (error: unknown) => void): LastUse {
  /** By the id of the key. */
  let used = new Map<string, Caller>();

  const flush = async (): Promise<void> => {
    const batch = used;
    used = new Map();
    if (batch.size === 0) return;
    try {
      await writeLastUse(database, [...batch.values()]);
    } catch (error) {
      // Written with the next batch.
      used = new Map([...batch, ...used]);
      throw error;
    }
  };

  const repetition = repeat(flush, { intervalMs, onError });
  return {
    runs: repetition.runs,
    record(caller) {
      used.set(caller.credentialId, caller);
    },
    async close() {
      await repetition.close();
      await flush().catch(onError);
    },
  };
}

async function writeLastUse(database: Database, callers: readonly Caller[]): Promise<void> {
  const customers = callers.map(({ customerId }) => customerId);
  const orgs = callers.map(({ orgId }) => orgId);
  const members = callers.map(({ memberId }) => memberId);
  const keys = callers.map(({ credentialId }) => credentialId);
  const times = callers.map(({ time }) => new Date(time));
  await sql`
    update api_keys set last_use_time = date_trunc('minute', used.time)
    from unnest(${customers}::uuid[], ${orgs}::uuid[], ${members}::uuid[], ${keys}::uuid[], ${times}::timestamptz[])
      as used (customer_id, org_id, member_id, id, time)
    where api_keys.customer_id = used.customer_id and api_keys.org_id = used.org_id and api_keys.member_id = used.member_id and api_keys.id = used.id
      and (last_use_time is null or last_use_time < date_trunc('minute', used.time))`.execute(database.writes);
}
