// Answers who may do what.
import { create } from "@bufbuild/protobuf";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import {
  type AccessService,
  BatchCheckAccessResponseSchema,
  type CheckAccessRequest,
  CheckAccessResponseSchema,
  TestPermissionsResponseSchema,
} from "../../gen/iam/v1alpha/access_pb.ts";
import { questionOf } from "../access/authorise.ts";
import { callerOf } from "../access/call.ts";
import { parsePlace } from "../access/parse-place.ts";
import type { Caller } from "../identity/caller.ts";
import type { AccessDependencies } from "./dependencies.ts";
import { createExplainAccess } from "./explain-access.ts";
import { createListResources } from "./list-resources.ts";
import { createListSubjects } from "./list-subjects.ts";
import { findSubject, readAttributes, readStaleness, readSubject } from "./read-question.ts";

export function createAccessService(dependencies: AccessDependencies): ServiceImpl<typeof AccessService> {
  const { decider, snapshots, subjectOrgs } = dependencies;

  /** @param prefix goes before the fields' names in errors. */
  const check = async (caller: Caller, request: CheckAccessRequest, prefix = "") => {
    const subject = readSubject(request.subjectPath, `${prefix}subject_path`);
    const place = parsePlace(request.resourcePath, `${prefix}resource_path`);
    const attributes = readAttributes(request.context, `${prefix}context`);
    const staleness = readStaleness(request.maxStaleness, request.revision);
    const confirmed = await subjectOrgs.confirm(caller, subject.org, staleness);
    // Who is not there may do nothing; that it is not there is nothing to tell whoever may only ask.
    if (confirmed === undefined) return create(CheckAccessResponseSchema, { allowed: false, revision: "0" });
    const { snapshot, now } = confirmed;
    const found = findSubject(snapshot, subject);
    const allowed =
      found !== undefined &&
      (await decider.allowsAt(snapshot, { subject: found, attributes, now }, request.permission, place));
    return create(CheckAccessResponseSchema, { allowed, revision: snapshot.revision });
  };

  return {
    checkAccess: (request, context) => check(callerOf(context), request),

    async batchCheckAccess({ checks }, context) {
      const caller = callerOf(context);
      const results = await Promise.all(checks.map((request, index) => check(caller, request, `checks[${index}].`)));
      return create(BatchCheckAccessResponseSchema, { results });
    },

    listSubjects: createListSubjects(dependencies),
    listResources: createListResources(dependencies),
    explainAccess: createExplainAccess(dependencies),

    async testPermissions({ resourcePath, permissions, context: given }, context: HandlerContext) {
      const caller = callerOf(context);
      const snapshot = await snapshots.at(caller.orgId, caller.orgRevision);
      const question = { ...questionOf(caller), attributes: readAttributes(given, "context") };
      const place = parsePlace(resourcePath, "resource_path");
      const held: string[] = [];
      for (const permission of permissions) {
        if (await decider.allowsAt(snapshot, question, permission, place)) held.push(permission);
      }
      return create(TestPermissionsResponseSchema, { permissions: held, revision: snapshot.revision });
    },
  };
}
