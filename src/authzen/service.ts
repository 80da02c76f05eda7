// Implements the OpenID AuthZEN Authorization API 1.0. Questions that AccessService answers are calls of it.
import type { ServiceImpl } from "@connectrpc/connect";
import type { AuthorizationApiService } from "../../gen/authzen/v1/authorization_api_pb.ts";
import { AccessService } from "../../gen/iam/v1alpha/access_pb.ts";
import { slicesOf } from "../access/evaluation/call.ts";
import { evaluateAll, toCheck } from "./evaluate.ts";
import { namePageFields } from "./name-page-fields.ts";
import {
  type AuthzenDependencies,
  createSearchActions,
  createSearchResources,
  createSearchSubjects,
} from "./search.ts";

export function createAuthorizationApiService(
  dependencies: AuthzenDependencies,
): ServiceImpl<typeof AuthorizationApiService> {
  const { inProcess } = dependencies;
  const { checkAccess, batchCheckAccess } = AccessService.method;
  return {
    async evaluate(request, context) {
      const check = toCheck(request);
      if (check === undefined) return { decision: false };
      const { allowed } = await inProcess.ofCaller(checkAccess, check, context);
      return { decision: allowed };
    },
    evaluateAll(request, context) {
      const checkAll = async (checks: Parameters<Parameters<typeof evaluateAll>[0]>[0]) => {
        const { results } = await inProcess.ofCaller(batchCheckAccess, { checks }, context);
        return results.map(({ allowed }) => allowed);
      };
      return evaluateAll(checkAll, slicesOf(context), request);
    },
    searchSubjects: namePageFields(createSearchSubjects(dependencies)),
    searchResources: namePageFields(createSearchResources(dependencies)),
    searchActions: namePageFields(createSearchActions(dependencies)),
  };
}
