// Implements the OpenID AuthZEN Authorization API 1.0. Questions that AccessService answers are calls of it.
import { type ServiceImpl, type HandlerContext, ConnectError } from "@connectrpc/connect";
import type { AuthorizationApiService } from "../../gen/authzen/v1/authorization_api_pb.ts";
import { AccessService } from "../../gen/iam/v1alpha/access_pb.ts";
import { slicesOf } from "../access/evaluation/call.ts";
import { evaluateAll, isAnswer, toCheck } from "./evaluate.ts";
import {
  type AuthzenDependencies,
  createSearchActions,
  createSearchResources,
  createSearchSubjects,
} from "./search.ts";
import { ErrorInfoSchema } from "../../gen/google/rpc/error_details_pb.ts";
import { type ErrorReason, ServiceError, invalidFields } from "../errors/service-error.ts";

export function createAuthorizationApiService(
  dependencies: AuthzenDependencies,
): ServiceImpl<typeof AuthorizationApiService> {
  const { inProcess, knownPermissions } = dependencies;
  const { checkAccess, batchCheckAccess } = AccessService.method;
  return {
    async evaluate(request, context) {
      const check = toCheck(request, knownPermissions);
      if (isAnswer(check)) return check;
      const { allowed } = await inProcess.ofCaller(checkAccess, check, context);
      return { decision: allowed };
    },
    evaluateAll(request, context) {
      const checkAll = async (checks: Parameters<Parameters<typeof evaluateAll>[0]>[0]) => {
        const { results } = await inProcess.ofCaller(batchCheckAccess, { checks }, context);
        return results.map(({ allowed }) => allowed);
      };
      return evaluateAll(checkAll, slicesOf(context), request, knownPermissions);
    },
    searchSubjects: namePageFields(createSearchSubjects(dependencies)),
    searchResources: namePageFields(createSearchResources(dependencies)),
    searchActions: namePageFields(createSearchActions(dependencies)),
  };
}

type Search<Request, Found> = (request: Request, context: HandlerContext) => Promise<Found>;

const reason = "PAGE_TOKEN_INVALID" satisfies ErrorReason;

/** Returns a search whose error about a page token has the names of AuthZEN. The pages themselves are those of lists. */
function namePageFields<Request, Found>(search: Search<Request, Found>): Search<Request, Found> {
  return async (request, context) => {
    try {
      return await search(request, context);
    } catch (error) {
      if (reasonOf(error) !== reason) throw error;
      const description = "must be the next_token of an earlier response to the same request (only limit may differ)";
      throw invalidFields([{ field: "page.token", description, rule: "page_token" }], reason);
    }
  };
}

/** Returns the reason of an error of this process, or of a call in it. */
function reasonOf(error: unknown): string | undefined {
  if (error instanceof ServiceError) return error.reason;
  return error instanceof ConnectError ? error.findDetails(ErrorInfoSchema)[0]?.reason : undefined;
}
