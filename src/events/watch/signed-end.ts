// The end of the log of an org that is followed, signed once for all streams that are at it.
import type { ChangesHead } from "../../../gen/iam/v1alpha/change_pb.ts";
import type { LogEnd, SignHead } from "../../changes/signed-head.ts";
import type { Database } from "../../database/database.ts";
import { readLogEnd, toHead } from "../changes/head.ts";
import type { ChangeRow } from "../changes/store.ts";

export interface SignedEnd {
  /** Notes the last entry of a revision that was read, so that nothing is read for its head. */
  note(last: ChangeRow): void;
  /**
   * Returns the signed head of a revision; undefined if it is not the end of the log any more and was not noted, or is in no chain.
   *
   * @param now when the log ended there, by the database's clock, in milliseconds.
   * @throws ServiceError SERVICE_UNAVAILABLE when there is no key to sign with.
   */
  at(revision: string, now: number): Promise<ChangesHead | undefined>;
}

/** For how long a head is sent again that was signed, so that streams which are silent show that the log still ends there. */
const signedMs = 60_000;

interface Dependencies {
  readonly database: Pick<Database, "reads">;
  readonly signHead: SignHead;
}

export function createSignedEnd(orgId: string, { database, signHead }: Dependencies): SignedEnd {
  let last: { readonly revision: string; readonly end: LogEnd | undefined } | undefined;
  let signed:
    | { readonly revision: string; readonly atMs: number; readonly head: Promise<ChangesHead | undefined> }
    | undefined;

  const findEnd = async (revision: string): Promise<LogEnd | undefined> => {
    if (last?.revision === revision) return last.end;
    const read = await readLogEnd(database, { kind: "org", id: orgId });
    return read?.end.revision === revision ? read.end : undefined;
  };

  const sign = async (revision: string, now: number): Promise<ChangesHead | undefined> => {
    const end = await findEnd(revision);
    return end && toHead({ end, now }, signHead);
  };

  return {
    note: (entry) => void (last = { revision: entry.revision, end: endOf(entry) }),

    at(revision, now) {
      if (signed?.revision === revision && performance.now() < signed.atMs + signedMs) return signed.head;
      const head = sign(revision, now);
      const current = { revision, atMs: performance.now(), head };
      signed = current;
      head.catch(() => {
        if (signed === current) signed = undefined;
      });
      return head;
    },
  };
}

/** Returns the end of a log that ends with an entry; undefined if that is in no chain. */
function endOf({
  org_id: logId,
  revision,
  time_text: time,
  timeline = null,
  chain_start: chainStart,
  hash,
}: ChangeRow) {
  if (hash === null || !chainStart) return undefined;
  return { logId, isOfCustomer: false, revision, time, timeline, chainStart, hash: hash.toString("hex") };
}
