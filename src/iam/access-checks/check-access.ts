import { type JsonObject, create } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import {
  type CheckAccessRequest,
  type CheckAccessResponse,
  CheckAccessResponseSchema,
} from "../../../gen/iam/v1alpha/access_pb.ts";
import { callerOf, slicesOf } from "../../access/evaluation/call.ts";
import type { CheckRequest } from "../../access/evaluation/check-request.ts";
import { type RequestConditions, createRequestConditions } from "../../access/evaluation/condition-budget.ts";
import { type TargetPath, parseTargetPath } from "../../access/evaluation/target-path.ts";
import type { Caller } from "../../identity/caller.ts";
import type { CallSlices } from "../../scheduling/call-slices.ts";
import type { AccessDependencies } from "./dependencies.ts";
import { type NamedSubject, findNow, readAttributes, readStaleness, readSubject } from "./read-check-request.ts";
import { requireOwnPermission } from "./require-known-permission.ts";
import { type Confirmed, type Staleness, orgKey } from "./subject-orgs.ts";

export interface Asking {
  readonly caller: Caller;
  readonly slices: CallSlices;
}

export const askingOf = (context: HandlerContext): Asking => ({ caller: callerOf(context), slices: slicesOf(context) });

export type CheckAccess = (asking: Asking, request: CheckAccessRequest) => Promise<CheckAccessResponse>;

/** Returns the answers in the order of the requests. Stops when nobody waits for them any more. */
export type CheckAccessOfAll = (
  asking: Asking,
  requests: readonly CheckAccessRequest[],
) => Promise<CheckAccessResponse[]>;

interface Asked {
  readonly subject: NamedSubject;
  readonly permission: string;
  readonly permissionField: string;
  readonly path: TargetPath;
  readonly attributes: CheckRequest["attributes"];
  readonly staleness: Staleness | undefined;
  /** The revision that the answer must include, and the field of the request that holds it. */
  readonly revision: string;
  readonly revisionField: string;
}

/** How the parts of a request are read. A batch reads equal parts once. */
interface ReadParts {
  readonly subject: typeof readSubject;
  readonly path: typeof parseTargetPath;
  readonly attributes: typeof readAttributes;
}

const readParts: ReadParts = { subject: readSubject, path: parseTargetPath, attributes: readAttributes };

type CheckResponse = CheckAccessResponse | Promise<CheckAccessResponse>;

/** Creates the method that checks whether a subject has a permission on a resource. */
export function createCheckAccess(dependencies: AccessDependencies): CheckAccess {
  const { confirm, checkPermission, checkRevision, answer } = createSteps(dependencies);
  return async ({ caller, slices }, request) => {
    const asked = readCheck(request, "", readParts);
    const confirmed = await confirm(caller, asked);
    checkPermission(asked, confirmed);
    if (asked.revision !== "") await checkRevision(asked, confirmed);
    const slice = slices.next();
    if (slice !== undefined) await slice;
    return answer(asked, confirmed, createRequestConditions());
  };
}

/** Creates the method that checks many requests. It parses each path once, confirms each org once, and awaits few answers. */
export function createCheckAccessOfAll(dependencies: AccessDependencies): CheckAccessOfAll {
  const { confirm, checkPermission, checkRevision, answer } = createSteps(dependencies);
  return async ({ caller, slices }, requests) => {
    const read = {
      subject: onceForEach(readSubject),
      path: onceForEach(parseTargetPath),
      attributes: attributesOnce(),
    };
    const all: Asked[] = [];
    for (const [index, request] of requests.entries()) {
      const slice = slices.next();
      if (slice !== undefined) await slice;
      all.push(readCheck(request, `checks[${index}].`, read));
    }
    const confirmed = await confirmOnce(all, (asked) => confirm(caller, asked));
    // Come before the first decision, whose answer an error would discard.
    for (const asked of all) checkPermission(asked, confirmed.get(confirmKey(asked)));
    const bounded = all.filter(({ revision }) => revision !== "");
    await Promise.all(bounded.map((asked) => checkRevision(asked, confirmed.get(confirmKey(asked)))));
    const conditions = createRequestConditions();
    const answers: CheckResponse[] = [];
    for (const asked of all) {
      const slice = slices.next();
      if (slice !== undefined) await slice;
      answers.push(answer(asked, confirmed.get(confirmKey(asked)), conditions));
    }
    return answers.every(isReady) ? answers : Promise.all(answers.map((each) => Promise.resolve(each)));
  };
}

function createSteps(dependencies: AccessDependencies) {
  const { evaluator, subjectOrgs, requireReached } = dependencies;

  /** Returns the subject's org; undefined if the caller must not learn anything about it. */
  const confirm = (caller: Caller, { subject, staleness }: Asked): Promise<Confirmed | undefined> =>
    subjectOrgs.confirm(caller, subject.org, "iam.access.check", staleness);

  const checkPermission = ({ permission, permissionField }: Asked, confirmed: Confirmed | undefined): void => {
    if (confirmed !== undefined) requireOwnPermission(dependencies, confirmed.snapshot, permission, permissionField);
  };

  const checkRevision = async ({ revision, revisionField }: Asked, confirmed: Confirmed | undefined): Promise<void> => {
    if (confirmed !== undefined) await requireReached(confirmed.snapshot, revision, revisionField);
  };

  const answer = (asked: Asked, confirmed: Confirmed | undefined, conditions: RequestConditions): CheckResponse => {
    // A subject that does not exist is denied, so that callers without further permissions do not learn that it does not exist.
    if (confirmed === undefined) return respond(false, "");
    const { snapshot, now } = confirmed;
    // The revision before the decision. The snapshot may be newer after it.
    const { revision } = snapshot;
    const subject = findNow(snapshot, asked.subject);
    if (subject === undefined) return respond(false, revision);
    const check: CheckRequest = { subject, attributes: asked.attributes, now, counted: "all", conditions };
    const target = evaluator.resolveAllowed(snapshot, check, asked.permission, asked.path);
    if (target instanceof Promise) return target.then((found) => respond(found !== undefined, revision));
    return respond(target !== undefined, revision);
  };

  return { confirm, checkPermission, checkRevision, answer };
}

/** @param prefix goes before the names of fields in errors. */
function readCheck(request: CheckAccessRequest, prefix: string, read: ReadParts): Asked {
  return {
    subject: read.subject(request.subjectPath, `${prefix}subject_path`),
    permission: request.permission,
    permissionField: `${prefix}permission`,
    path: read.path(request.resourcePath, `${prefix}resource_path`),
    attributes: read.attributes(request.context, `${prefix}context`),
    staleness: readStaleness(request.maxStaleness, request.revision),
    revision: request.revision,
    revisionField: `${prefix}revision`,
  };
}

/** Reads equal contexts as one value, so that their conditions share results. */
function attributesOnce(): typeof readAttributes {
  const known = new Map<string, JsonObject>();
  return (context, field) => {
    const text = context === undefined ? "" : JSON.stringify(context);
    const found = known.get(text) ?? readAttributes(context, field);
    known.set(text, found);
    return found;
  };
}

function onceForEach<Read>(read: (text: string, field: string) => Read): (text: string, field: string) => Read {
  const known = new Map<string, Read>();
  return (text, field) => {
    const found = known.get(text) ?? read(text, field);
    known.set(text, found);
    return found;
  };
}

/** Returns a key for everything that affects how the subject's org is confirmed. */
function confirmKey({ subject, staleness }: Asked): string {
  const name = orgKey(subject.org);
  return staleness === undefined ? name : `${name} ${staleness.maxMs} ${staleness.revision}`;
}

async function confirmOnce(
  all: readonly Asked[],
  confirm: (asked: Asked) => Promise<Confirmed | undefined>,
): Promise<ReadonlyMap<string, Confirmed | undefined>> {
  const byKey = new Map(all.map((asked) => [confirmKey(asked), asked]));
  const confirmed = await Promise.all([...byKey.values()].map(confirm));
  return new Map([...byKey.keys()].map((key, index) => [key, confirmed[index]]));
}

function isReady(answer: CheckResponse): answer is CheckAccessResponse {
  return !(answer instanceof Promise);
}

function respond(allowed: boolean, revision: string): CheckAccessResponse {
  return create(CheckAccessResponseSchema, { allowed, revision });
}
