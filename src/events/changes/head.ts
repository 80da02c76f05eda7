import { create } from "@bufbuild/protobuf";
import { sql } from "kysely";
import { type ChangesHead, ChangesHeadSchema } from "../../../gen/iam/v1alpha/change_pb.ts";
import { chainEndOf } from "../../changes/chain.ts";
import type { LogEnd, SignHead } from "../../changes/signed-head.ts";
import type { Database } from "../../database/database.ts";
import { clockMs, timeText } from "../../database/clock.ts";
import { byId, formatPath } from "../../paths/format-path.ts";
import { patterns } from "../../paths/patterns.ts";
import { microsecondTimestamp } from "./message.ts";

interface FoundEnd {
  readonly end: LogEnd;
  /** The database's clock, in milliseconds. */
  readonly now: number;
}

interface HeadRow {
  readonly revision: string;
  readonly time: string;
  readonly chain_revision: string | null;
  readonly chain_start: string | null;
  readonly chain_hash: Buffer | null;
  readonly timeline: number | null;
  readonly now: number;
}

/**
 * Reads the end of the log of an org, or of a customer itself; undefined if there is no such log, or if its last entry is of an earlier
 * version and in no chain. The entry itself may be past the retention.
 */
export async function readLogEnd(
  { reads }: Pick<Database, "reads">,
  { kind, id }: { readonly kind: "org" | "customer"; readonly id: string },
): Promise<FoundEnd | undefined> {
  const holders = kind === "org" ? sql`orgs` : sql`customers`;
  const { rows } = await sql<HeadRow>`
    select revision, ${timeText(sql`revision_time`)} as time, chain_revision, chain_start, chain_hash, ${clockMs} as now,
      (select timeline from changes
        where changes.org_id = holders.id and changes.revision = holders.revision and changes.time = holders.revision_time
        order by position desc limit 1) as timeline
    from ${holders} as holders where id = ${id}`.execute(reads);
  const [row] = rows;
  const chain = row && chainEndOf(row);
  if (row === undefined || chain === undefined) return undefined;
  const { revision, time, timeline, now } = row;
  const isOfCustomer = kind === "customer";
  return { end: { logId: id, isOfCustomer, revision, time, timeline, chainStart: chain.start, hash: chain.hash }, now };
}

/** Signs the end of a log. @throws ServiceError SERVICE_UNAVAILABLE when there is no key to sign with. */
export async function toHead({ end, now }: FoundEnd, signHead: SignHead): Promise<ChangesHead> {
  return toShownHead(end, await signHead(end, now));
}

/** Returns what is shown of a head that was signed. */
export function toShownHead({ logId, isOfCustomer, revision, time, hash }: LogEnd, jws: string): ChangesHead {
  const log = isOfCustomer
    ? { customerPath: formatPath(patterns.Customer, byId(logId)) }
    : { orgPath: formatPath(patterns.Org, byId(logId)) };
  return create(ChangesHeadSchema, { ...log, revision, time: microsecondTimestamp(time), hash, jws });
}
