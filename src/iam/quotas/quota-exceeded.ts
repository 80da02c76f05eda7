import type { Transaction } from "kysely";
import type { Schema } from "../../database/schema.ts";
import { required } from "../../errors/required.ts";
import { ServiceError } from "../../errors/service-error.ts";
import type { LedgerPlace } from "./ledger.ts";
import type { LevelKind, LevelRow } from "./levels.ts";
import { pathAbove } from "./may-raise.ts";
import { permissionToUpdateQuotas } from "./permission.ts";
import { findLevels } from "./read-level.ts";

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

/** Returns the error for limits that a change would exceed, each with who can raise it. */
export async function quotaExceeded(
  db: Transaction<Schema>,
  place: LedgerPlace,
  excesses: readonly Excess[],
): Promise<ServiceError> {
  const rows = await findLevels(db, place, new Set(excesses.map(({ level }) => level)));
  const quotas = excesses.map((excess) => describe(excess, required(rows.get(excess.level))));
  const [first] = quotas;
  const repeated = quotas.slice(0, maxRepeated).map(({ description }) => description);
  const others = quotas.length - repeated.length;
  const message = [...repeated, ...(others > 0 ? [`and ${others} more`] : [])].join("; ");
  const metadata = { resource: first?.subject ?? "", kind: first?.metric ?? "", ...first?.amounts };
  return new ServiceError("QUOTA_EXCEEDED", message, { quotas, metadata });
}

function describe({ kind, limit, used, reserved, asked }: Excess, level: LevelRow) {
  const { path, above } = level;
  const sum = `the limit of ${path} for ${kind} is ${limit}: ${used} are used, ${reserved} reserved, and ${asked} more are needed`;
  return {
    subject: path,
    description: `${sum}; the permission ${permissionToUpdateQuotas} on ${pathAbove(above)} allows to raise it${whereToAsk(level)}`,
    metric: kind,
    amounts: { limit, used, reserved, asked },
  };
}

/** A quota request is in the org; there is none for the quota of a customer. */
function whereToAsk({ kind, path }: LevelRow): string {
  if (kind === "customer") return "";
  const [, collection, org] = path.split("/");
  return `, and a quota request in /${collection}/${org}/quotaRequests asks for it`;
}
