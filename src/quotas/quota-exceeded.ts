import type { Transaction } from "kysely";
import type { AuthorHolds, Holds } from "../access/evaluation/author-holds.ts";
import type { OrgTransaction } from "../changes/write-in-org.ts";
import type { Schema } from "../database/schema.ts";
import { required } from "../errors/required.ts";
import { type QuotaViolation, ServiceError } from "../errors/service-error.ts";
import { type LedgerPlace, type LevelKind, type LevelRow, pathAbove } from "./levels.ts";
import { permissionToGetQuotas, permissionToUpdateQuotas } from "./permission.ts";
import { findLevels } from "./read-level.ts";
import { readableKinds } from "./readable-levels.ts";

/** A limit that a change would exceed. Amounts are exact decimals. */
export interface Excess {
  readonly level: LevelKind;
  readonly kind: string;
  readonly limit: string;
  /** Before the change. */
  readonly used: string;
  readonly reserved: string;
  /** By how much the change would raise the total. */
  readonly asked: string;
}

const maxRepeated = 10;

/** Limits that a change would exceed, and the levels that they are of. */
interface Refusal {
  readonly excesses: readonly Excess[];
  /** With the org, if the quota of its customer is exceeded. */
  readonly rows: ReadonlyMap<LevelKind, LevelRow>;
}

/** The refusal of a change. Shows nothing of quotas until it is known which its caller may get. */
export class QuotaExceeded extends ServiceError {
  readonly #refusal: Refusal;

  constructor(refusal: Refusal, readable: ReadonlySet<LevelKind> = new Set()) {
    const quotas = refusal.excesses.map((excess) => describe(excess, refusal.rows, readable));
    const [first] = quotas;
    const repeated = quotas.slice(0, maxRepeated).map(({ description }) => description);
    const others = quotas.length - repeated.length;
    const message = [...repeated, ...(others > 0 ? [`and ${others} more`] : [])].join("; ");
    const metadata = { resource: first?.subject ?? "", kind: first?.metric ?? "", ...first?.amounts };
    super("QUOTA_EXCEEDED", message, { quotas, metadata });
    this.#refusal = refusal;
  }

  /** Returns the error with the limits and usages of the quotas that somebody may get. */
  async shownTo(holds: Holds): Promise<QuotaExceeded> {
    return new QuotaExceeded(this.#refusal, await readableKinds(holds, this.#refusal.rows.values()));
  }
}

/** Returns the error for limits that a change would exceed, each with who can raise it. */
export async function quotaExceeded(
  db: Transaction<Schema>,
  place: LedgerPlace,
  excesses: readonly Excess[],
): Promise<QuotaExceeded> {
  const kinds = new Set(excesses.map(({ level }) => level));
  if (kinds.has("customer")) kinds.add("org");
  return new QuotaExceeded({ excesses, rows: await findLevels(db, place, kinds) });
}

/**
 * Runs a part of a write. A refusal of the ledger shows the author the quotas that it may get.
 *
 * @throws ServiceError QUOTA_EXCEEDED, and what the part throws.
 */
export async function withReadableQuotas<Result>(
  authorHolds: AuthorHolds,
  { db, author, org }: Pick<OrgTransaction, "db" | "author" | "org">,
  run: () => Promise<Result>,
): Promise<Result> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof QuotaExceeded)) throw error;
    throw await error.shownTo(await authorHolds.now({ db, author, org }));
  }
}

function describe(excess: Excess, rows: Refusal["rows"], readable: ReadonlySet<LevelKind>): QuotaViolation {
  const level = required(rows.get(excess.level));
  const { kind, limit, used, reserved, asked } = excess;
  if (!readable.has(excess.level)) return describeHidden(excess, level, rows);
  const { path, above } = level;
  const sum = `the limit of ${path} for ${kind} is ${limit}: ${used} are used, ${reserved} reserved, and ${asked} more are needed`;
  return {
    subject: path,
    description: `${sum}; the permission ${permissionToUpdateQuotas} on ${pathAbove(above)} allows to raise it${whereToAsk(level)}`,
    metric: kind,
    amounts: { limit, used, reserved, asked },
  };
}

/** Describes an excess to a caller who may not get the quota, and need not know of what is above the org. */
function describeHidden(
  { level: kindOfLevel, kind, asked }: Excess,
  level: LevelRow,
  rows: Refusal["rows"],
): QuotaViolation {
  const customer = `the customer of ${rows.get("org")?.path ?? level.path}`;
  const subject = kindOfLevel === "customer" ? customer : level.path;
  const above = kindOfLevel === "org" ? customer : pathAbove(level.above);
  const sum = `the quota of ${subject} for ${kind} does not allow the ${asked} more that are needed; to see it requires ${permissionToGetQuotas}`;
  return {
    subject,
    description: `${sum}; the permission ${permissionToUpdateQuotas} on ${above} allows to raise it${whereToAsk(level)}`,
    metric: kind,
    amounts: { asked },
  };
}

/** A quota request is in the org; there is none for the quota of a customer. */
function whereToAsk({ kind, path }: LevelRow): string {
  if (kind === "customer") return "";
  const [, collection, org] = path.split("/");
  return `, and a quota request in /${collection}/${org}/quotaRequests asks for it`;
}
