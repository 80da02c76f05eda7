import type { ServiceImpl } from "@connectrpc/connect";
import { QuantityKindsService } from "../../../gen/resources/v1alpha/quantity_kind_pb.ts";
import type { ResourceDependencies } from "../../standard-methods/rules.ts";
import { createStandardService } from "../../standard-methods/standard-service.ts";
import { requireNoQuota } from "./require-no-quota.ts";
import { forgetKinds } from "../services/counted-kinds.ts";
import { quantityKindDefinition } from "./definition.ts";

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
