// Implements AccessService.
import { create } from "@bufbuild/protobuf";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import {
  type AccessService,
  BatchCheckAccessResponseSchema,
  TestPermissionsResponseSchema,
} from "../../../gen/iam/v1alpha/access_pb.ts";
import { callerOf } from "../../access/evaluation/call.ts";
import { allows } from "../../access/evaluation/allows.ts";
import { askedAbout, everywhere } from "../../access/evaluation/resolved-target.ts";
import { parseTargetPath } from "../../access/evaluation/target-path.ts";
import { askingOf, createCheckAccess, createCheckAccessOfAll } from "./check-access.ts";
import type { AccessDependencies } from "./dependencies.ts";
import { createExplainAccess } from "./explain-access.ts";
import { createListResources } from "./list-resources.ts";
import { createListSubjects } from "./list-subjects.ts";
import { readAttributes } from "./read-check-request.ts";
import { requireOwnPermission } from "./require-known-permission.ts";

export function createAccessService(dependencies: AccessDependencies): ServiceImpl<typeof AccessService> {
  const { evaluator, viewCaller, requireReached } = dependencies;
  const checkAccess = createCheckAccess(dependencies);
  const checkAccessOfAll = createCheckAccessOfAll(dependencies);

  return {
    checkAccess: (request, context) => checkAccess(askingOf(context), request),

    async batchCheckAccess({ checks }, context) {
      const results = await checkAccessOfAll(askingOf(context), checks);
      return create(BatchCheckAccessResponseSchema, { results });
    },

    listSubjects: createListSubjects(dependencies),
    listResources: createListResources(dependencies),
    explainAccess: createExplainAccess(dependencies),

    async testPermissions({ resourcePath, permissions, revision, context: given }, context: HandlerContext) {
      const { snapshot, check: ofCaller } = await viewCaller(callerOf(context));
      await requireReached(snapshot, revision, "revision");
      for (const [index, permission] of permissions.entries()) {
        requireOwnPermission(dependencies, snapshot, permission, `permissions[${index}]`);
      }
      const check = { ...ofCaller, attributes: readAttributes(given, "context") };
      const path = parseTargetPath(resourcePath, "resource_path");
      // Permissions on the platform also apply to resources that do not exist.
      const target = askedAbout((await evaluator.resolve(snapshot, path)) ?? everywhere);
      const held = permissions.filter((permission) => allows(snapshot, check, permission, target));
      return create(TestPermissionsResponseSchema, { permissions: held, revision: snapshot.revision });
    },
  };
}
