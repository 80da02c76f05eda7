import type { ServiceImpl } from "@connectrpc/connect";
import { QuantityKindsService } from "../../../gen/resources/v1alpha/quantity_kind_pb.ts";
import type { ResourceDependencies } from "../../standard-methods/rules.ts";
import { createStandardService } from "../../standard-methods/standard-service.ts";
import { forgetKinds } from "../services/counted-kinds.ts";
import { quantityKindDefinition } from "./definition.ts";
import type { Transaction } from "kysely";
import type { Schema } from "../../database/schema.ts";
import { ServiceError } from "../../errors/service-error.ts";
import { countQuotasOfKind, lockDeletedKinds } from "../../quotas/kinds.ts";
import { quantityKindPath } from "./message.ts";
import type { QuantityKindRow } from "./store.ts";

export function createQuantityKindsService(
  dependencies: ResourceDependencies,
): ServiceImpl<typeof QuantityKindsService> {
  return createStandardService(QuantityKindsService, dependencies, quantityKindDefinition, {
    scope: { kind: "fixed", org: { by: "id", value: dependencies.installation.systemOrgId } },
    creation: {
      kind: "in org",
      prepare: async (_transaction, _parent, kinds) =>
        kinds.map(({ unit, step = 1 }) => ({ columns: { unit, step: String(step) }, joined: {} })),
    },
    revokes: "nothing",
    async beforeRemove(transaction, rows) {
      await requireNoQuota(transaction.db, rows);
      await forgetKinds(
        transaction,
        rows.map(({ name }) => name),
      );
    },
  });
}

/**
 * Checks that no quota has a limit or usage of any of the kinds, before they are removed.
 *
 * @throws ServiceError RESOURCE_IN_USE that names one.
 */
async function requireNoQuota(db: Transaction<Schema>, kinds: readonly QuantityKindRow[]): Promise<void> {
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
