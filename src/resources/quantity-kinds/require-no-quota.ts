import type { Transaction } from "kysely";
import type { Schema } from "../../database/schema.ts";
import { ServiceError } from "../../errors/service-error.ts";
import { countQuotasOfKind, lockDeletedKinds } from "../../quotas/kinds.ts";
import { quantityKindPath } from "./message.ts";
import type { QuantityKindRow } from "./store.ts";

/**
 * Checks that no quota has a limit or usage of any of the kinds, before they are removed.
 *
 * @throws ServiceError RESOURCE_IN_USE that names one.
 */
export async function requireNoQuota(db: Transaction<Schema>, kinds: readonly QuantityKindRow[]): Promise<void> {
  await lockDeletedKinds(
    db,
    kinds.map(({ name }) => name),
  );
  for (const kind of kinds) {
    const count = await countQuotasOfKind(db, kind.name);
    if (count === 0) continue;
    const path = quantityKindPath(kind);
    const message = `the quantity kind ${path} has a limit or usage in ${count} quotas; remove the limits and the resources first`;
    throw new ServiceError("RESOURCE_IN_USE", message, { metadata: { resource: path } });
  }
}
