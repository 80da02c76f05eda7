import { sql } from "kysely";
import type { Database } from "../database/database.ts";
import type { Caller } from "./caller.ts";

/** Remembers which API keys were used and writes it down now and then, so that a read costs no write. */
export interface LastUse {
  record(caller: Caller): void;
  /** Writes down what is not yet, and stops. */
  close(): Promise<void>;
}

export function createLastUse(database: Database, intervalMs: number, onError: (error: unknown) => void): LastUse {
  let used = new Map<string, Caller>();
  let flushing = Promise.resolve();

  const flush = async (): Promise<void> => {
    const batch = used;
    used = new Map();
    if (batch.size === 0) return;
    try {
      await writeLastUse(database, [...batch.values()]);
    } catch (error) {
      // Written with the next ones.
      used = new Map([...batch, ...used]);
      onError(error);
    }
  };

  /** One at a time, so that `close` waits for the last. */
  const flushNext = (): Promise<void> => (flushing = flushing.then(flush));

  const timer = setInterval(() => void flushNext(), intervalMs);
  timer.unref();
  return {
    record(caller) {
      used.set(caller.apiKeyId, caller);
    },
    close() {
      clearInterval(timer);
      return flushNext();
    },
  };
}

async function writeLastUse(database: Database, callers: readonly Caller[]): Promise<void> {
  const orgs = callers.map((caller) => caller.orgId);
  const members = callers.map((caller) => caller.memberId);
  const keys = callers.map((caller) => caller.apiKeyId);
  await sql`
    update api_keys set last_use_time = date_trunc('minute', now())
    from unnest(${orgs}::uuid[], ${members}::uuid[], ${keys}::uuid[]) as used (org_id, member_id, id)
    where api_keys.org_id = used.org_id and api_keys.member_id = used.member_id and api_keys.id = used.id
      and (last_use_time is null or last_use_time < date_trunc('minute', now()))`.execute(database.writes);
}
