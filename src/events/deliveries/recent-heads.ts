// The signed ends of logs that go out with deliveries. Each is signed once a minute at most, however many requests there are of an org.
import type { SignHead } from "../../changes/signed-head.ts";
import type { Database } from "../../database/database.ts";
import { ServiceError } from "../../errors/service-error.ts";
import { readLogEnd } from "../changes/head.ts";

/**
 * Returns the end of the log of an org, signed within the last minute; undefined if the last change is in no chain, or if there is no key to
 * sign with, for which deliveries do not wait.
 */
export type RecentHead = (orgId: string) => Promise<string | undefined>;

const recentMs = 60_000;

/** So many are kept; with more, those are forgotten that were signed first. */
const maxKept = 1_000;

interface Dependencies {
  readonly database: Pick<Database, "reads">;
  readonly signHead: SignHead;
}

export function createRecentHead({ database, signHead }: Dependencies): RecentHead {
  const kept = new Map<string, { readonly atMs: number; readonly head: Promise<string | undefined> }>();

  const sign = async (orgId: string): Promise<string | undefined> => {
    const found = await readLogEnd(database, { kind: "org", id: orgId });
    return found && (await signHead(found.end, found.now).catch(unlessUnavailable));
  };

  return (orgId) => {
    const known = kept.get(orgId);
    if (known !== undefined && performance.now() < known.atMs + recentMs) return known.head;
    kept.delete(orgId);
    const head = sign(orgId);
    const current = { atMs: performance.now(), head };
    kept.set(orgId, current);
    head.catch(() => {
      if (kept.get(orgId) === current) kept.delete(orgId);
    });
    const [oldest] = kept.keys();
    if (kept.size > maxKept && oldest !== undefined) kept.delete(oldest);
    return head;
  };
}

function unlessUnavailable(error: unknown): undefined {
  if (!(error instanceof ServiceError && error.reason === "SERVICE_UNAVAILABLE")) throw error;
}
