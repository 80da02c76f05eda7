import type { ServiceImpl } from "@connectrpc/connect";
import { sql } from "kysely";
import { ServicesService } from "../../../gen/resources/v1alpha/service_pb.ts";
import type { OrgTransaction } from "../../changes/write-in-org.ts";
import { roleBindingDefinition } from "../../iam/role-bindings/definition.ts";
import { selectKeptRoleBindings } from "../../iam/role-bindings/store.ts";
import type { ResourceRegistry } from "../../standard-methods/definition/registry.ts";
import { mapItems } from "../../standard-methods/batch/batch-item.ts";
import { removeRows } from "../../standard-methods/rows/remove-rows.ts";
import type { ResourceDependencies } from "../../standard-methods/rules.ts";
import { createStandardService } from "../../standard-methods/standard-service.ts";
import { recordChange } from "../../standard-methods/write/append-change.ts";
import { requireCountedKept, requireKinds } from "./counted-kinds.ts";
import { serviceDefinition } from "./definition.ts";
import type { ServiceRow } from "./store.ts";

export function createServicesService(dependencies: ResourceDependencies): ServiceImpl<typeof ServicesService> {
  return createStandardService(ServicesService, dependencies, serviceDefinition, {
    scope: { kind: "fixed", org: { by: "id", value: dependencies.installation.systemOrgId } },
    creation: {
      kind: "in org",
      prepare: ({ db }, _parent, services, atItem) =>
        mapItems(services, atItem, async ({ countedKinds }) => {
          await requireKinds(db, countedKinds);
          return { columns: { counted_kinds: countedKinds }, joined: {} };
        }),
    },
    async change({ db }, row, { countedKinds }) {
      await requireKinds(db, countedKinds);
      await requireCountedKept(db, row, countedKinds);
      return { counted_kinds: countedKinds };
    },
    revokes: "nothing",
    beforeRemove: (transaction, rows) => removeBindings(transaction, dependencies.registry, rows),
  });
}

/**
 * Removes the role bindings on services, which are in the org of the write, like the services. Each has its own entry in the
 * change log, as the role bindings on a purged customer do.
 */
async function removeBindings(
  transaction: OrgTransaction,
  registry: ResourceRegistry,
  services: readonly ServiceRow[],
): Promise<void> {
  const { db, org } = transaction;
  const ids = services.map(({ id }) => id);
  const bindings = await selectKeptRoleBindings(db)
    .where(sql<boolean>`role_bindings.service_id = any(${ids}::uuid[])`)
    .execute();
  await removeRows(db, registry, roleBindingDefinition, org, bindings);
  for (const row of bindings) {
    const hasExpired = row.expire_time !== null && row.expire_time <= org.lockTime;
    recordChange(transaction, roleBindingDefinition, row, null, hasExpired ? row.expire_time : null);
  }
}
