import type { ServiceImpl } from "@connectrpc/connect";
import { SessionsService } from "../../../gen/iam/v1alpha/session_pb.ts";
import { endTokens } from "../../identity/tokens/end-tokens.ts";
import type { ResourceDependencies } from "../../standard-methods/rules.ts";
import { createStandardService } from "../../standard-methods/standard-service.ts";
import { sessionDefinition } from "./definition.ts";

export function createSessionsService(dependencies: ResourceDependencies): ServiceImpl<typeof SessionsService> {
  return createStandardService(SessionsService, dependencies, sessionDefinition, {
    scope: { kind: "parent" },
    creation: { kind: "with another" },
    async beforeRemove(transaction, rows) {
      const ids = rows.map(({ id }) => id);
      await endTokens(transaction, "Session", ids);
    },
    // Its member can start another.
    revokes: "nothing",
  });
}
