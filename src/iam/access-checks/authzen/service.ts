// Implements the OpenID AuthZEN Authorization API 1.0 with the methods of AccessService.
import type { ServiceImpl } from "@connectrpc/connect";
import type { AuthorizationApiService } from "../../../../gen/authzen/v1/authorization_api_pb.ts";
import { callerOf } from "../../../access/evaluation/call.ts";
import { renewTurnOf } from "../../../turns/renew-turn.ts";
import { createCheckAccess } from "../check-access.ts";
import { createEvaluate, evaluateAll } from "./evaluate.ts";
import {
  type AuthzenDependencies,
  createSearchActions,
  createSearchResources,
  createSearchSubjects,
} from "./search.ts";

export function createAuthorizationApiService(
  dependencies: AuthzenDependencies,
): ServiceImpl<typeof AuthorizationApiService> {
  const evaluate = createEvaluate(createCheckAccess(dependencies));
  return {
    evaluate: async (request, context) => ({ decision: await evaluate(callerOf(context), request) }),
    evaluateAll(request, context) {
      const caller = callerOf(context);
      const renew = renewTurnOf(dependencies.turns, caller, context.signal, "large");
      return evaluateAll(evaluate, renew, caller, request);
    },
    searchSubjects: createSearchSubjects(dependencies),
    searchResources: createSearchResources(dependencies),
    searchActions: createSearchActions(dependencies),
  };
}
