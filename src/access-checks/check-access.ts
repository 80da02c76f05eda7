import { create } from "@bufbuild/protobuf";
import {
  type CheckAccessRequest,
  type CheckAccessResponse,
  CheckAccessResponseSchema,
} from "../../gen/iam/v1alpha/access_pb.ts";
import { parsePlace } from "../access/parse-place.ts";
import type { Caller } from "../identity/caller.ts";
import type { AccessDependencies } from "./dependencies.ts";
import { createMayAskAbout } from "./may-ask-about.ts";
import { findSubject, readAttributes, readStaleness, readSubject } from "./read-question.ts";

/** @param prefix goes before the fields' names in errors. */
export type CheckAccess = (
  caller: Caller,
  request: CheckAccessRequest,
  prefix?: string,
) => Promise<CheckAccessResponse>;

/** Whether a subject may do something. */
export function createCheckAccess(dependencies: AccessDependencies): CheckAccess {
  const { decider, subjectOrgs } = dependencies;
  const mayAskAbout = createMayAskAbout(dependencies);
  return async (caller, request, prefix = "") => {
    const subject = readSubject(request.subjectPath, `${prefix}subject_path`);
    const place = parsePlace(request.resourcePath, `${prefix}resource_path`);
    const attributes = readAttributes(request.context, `${prefix}context`);
    const staleness = readStaleness(request.maxStaleness, request.revision);
    const mayAsk = await mayAskAbout(caller, subject.org, "iam.access.check");
    const confirmed = mayAsk ? await subjectOrgs.confirm(caller, subject.org, staleness) : undefined;
    // Who is not there may do nothing; that it is not there is nothing to tell whoever may only ask.
    if (confirmed === undefined) return create(CheckAccessResponseSchema, { allowed: false, revision: "0" });
    const { snapshot, now } = confirmed;
    const found = findSubject(snapshot, subject);
    // That of before the decision, which may be newer.
    const { revision } = snapshot;
    const allowed =
      found !== undefined &&
      (await decider.allowsAt(snapshot, { subject: found, attributes, now }, request.permission, place));
    return create(CheckAccessResponseSchema, { allowed, revision });
  };
}
