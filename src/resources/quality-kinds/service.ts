import type { ServiceImpl } from "@connectrpc/connect";
import { QualityKindsService } from "../../../gen/resources/v1alpha/quality_kind_pb.ts";
import type { ResourceDependencies } from "../../standard-methods/rules.ts";
import { createStandardService } from "../../standard-methods/standard-service.ts";
import { qualityKindDefinition } from "./definition.ts";

export function createQualityKindsService(dependencies: ResourceDependencies): ServiceImpl<typeof QualityKindsService> {
  return createStandardService(QualityKindsService, dependencies, qualityKindDefinition, {
    scope: { kind: "fixed", org: { by: "id", value: dependencies.installation.systemOrgId } },
    creation: {
      kind: "in org",
      prepare: async (_transaction, _parent, kinds) =>
        kinds.map(({ highestGrade }) => ({
          columns: { highest_grade: highestGrade === 0 ? 1 : highestGrade },
          joined: {},
        })),
    },
    revokes: "nothing",
  });
}
