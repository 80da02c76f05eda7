import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import { create } from "@bufbuild/protobuf";
import { ListRolesResponseSchema, RolesService } from "../../../gen/iam/v1alpha/role_pb.ts";
import { patternOf, targetOf } from "../../access/evaluation/call.ts";
import { ServiceError } from "../../errors/service-error.ts";
import { otherPatterns, patterns } from "../../paths/patterns.ts";
import type { Handler } from "../../standard-methods/method-handler.ts";
import { requireNow } from "../../standard-methods/past/past-fields.ts";
import { completeService, createStandardHandlers } from "../../standard-methods/standard-service.ts";
import { toPredefinedRole } from "./message.ts";
import { getPredefinedRole, listPredefinedRoles } from "./predefined-role-methods.ts";
import { roleDefinition } from "./definition.ts";
import type { RoleDependencies } from "./role-dependencies.ts";
import { createRoleRules } from "./role-rules.ts";

export function createRolesService(dependencies: RoleDependencies): ServiceImpl<typeof RolesService> {
  const { pageTokens, predefinedRoles } = dependencies;

  const predefined: Partial<ServiceImpl<typeof RolesService>> = {
    getRole(request, context) {
      requireNow(request);
      const [reference] = targetOf(context, otherPatterns.predefinedRole);
      return toPredefinedRole(getPredefinedRole(predefinedRoles, reference));
    },
    async listRoles(request) {
      requireNow(request);
      const { rows, nextPageToken } = await listPredefinedRoles(predefinedRoles, pageTokens, request);
      const roles = rows.map(toPredefinedRole);
      return create(ListRolesResponseSchema, { roles, nextPageToken, totalSize: predefinedRoles.length });
    },
  };

  const ofOrgs = createStandardHandlers(RolesService, dependencies, roleDefinition, createRoleRules(dependencies));
  const handlers = Object.entries(ofOrgs as unknown as Record<string, Handler>).map(([localName, handler]) => {
    const ofPredefined = (predefined as Record<string, Handler | undefined>)[localName] ?? refuseChange;
    const choose: Handler = async (request, context) =>
      isInOrg(context) ? handler(request, context) : ofPredefined(request, context);
    return [localName, choose];
  });
  return completeService(RolesService, Object.fromEntries(handlers) as Partial<ServiceImpl<typeof RolesService>>);
}

/** Reports whether the call is about the roles of an org: its path, or its parent's, begins with an org. */
function isInOrg(context: HandlerContext): boolean {
  return patternOf(context)[0] === patterns.Role[0];
}

function refuseChange(): never {
  throw new ServiceError("ROLE_PREDEFINED", "predefined roles cannot be changed; create a role of an org instead");
}
