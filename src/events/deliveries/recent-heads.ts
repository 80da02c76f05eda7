// The signed ends of logs that go out with deliveries. Each is signed once a minute at most, however many requests there are of an org.
import type { SignHead } from "../../changes/signed-head.ts";
import type { Database } from "../../database/database.ts";
import { type OrgKey, isLogOfCustomer } from "../../database/org-key.ts";
import { ServiceError } from "../../errors/service-error.ts";
import { readLogEnd } from "../changes/head.ts";

/**
 * Returns the end of the log of an org or a customer, signed within the last minute; undefined if the last change is in no chain, or if there is no key to
 * sign with, for which deliveries do not wait.
 */
export type RecentHead = (log: OrgKey) => Promise<string | undefined>;

const recentMs = 60_000;

/** So many are kept; with more, those are forgotten that were signed first. */
const maxKept = 1_000;

interface Dependencies {
  readonly database: Pick<Database, "reads">;
  readonly signHead: SignHead;
}

export function createRecentHead({ database, signHead }: Dependencies): RecentHead {
  const kept = new Map<string, { readonly atMs: number; readonly head: Promise<string | undefined> }>();

  const sign = async (log: OrgKey): Promise<string | undefined> => {
    const found = await readLogEnd(database, { kind: isLogOfCustomer(log) ? "customer" : "org", id: log.id });
    return found && (await signHead(found.end, found.now).catch(unlessUnavailable));
  };

  return (log) => {
    const { id } = log;
    const known = kept.get(id);
    if (known !== undefined && performance.now() < known.atMs + recentMs) return known.head;
    kept.delete(id);
    const head = sign(log);
    const current = { atMs: performance.now(), head };
    kept.set(id, current);
    head.catch(() => {
      if (kept.get(id) === current) kept.delete(id);
    });
    const [oldest] = kept.keys();
    if (kept.size > maxKept && oldest !== undefined) kept.delete(oldest);
    return head;
  };
}

function unlessUnavailable(error: unknown): undefined {
  if (!(error instanceof ServiceError && error.reason === "SERVICE_UNAVAILABLE")) throw error;
}
