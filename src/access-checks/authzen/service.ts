// Answers the OpenID AuthZEN Authorization API 1.0 by what AccessService answers by.
import type { ServiceImpl } from "@connectrpc/connect";
import type { AuthorizationApiService } from "../../../gen/authzen/v1/authorization_api_pb.ts";
import { callerOf } from "../../access/call.ts";
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
    evaluateAll: (request, context) => evaluateAll(evaluate, callerOf(context), request),
    searchSubjects: createSearchSubjects(dependencies),
    searchResources: createSearchResources(dependencies),
    searchActions: createSearchActions(dependencies),
  };
}
