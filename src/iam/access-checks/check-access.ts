import { type JsonObject, create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
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
import { invalidField } from "../../errors/service-error.ts";
import type { Caller } from "../../identity/caller.ts";
import type { CallSlices } from "../../scheduling/call-slices.ts";
import { type AsOf, type PastOrg, asOfKey, readAsOf } from "./as-of.ts";
import type { AccessDependencies } from "./dependencies.ts";
import { type NamedSubject, findNow, readAttributes, readStaleness, readSubject } from "./read-check-request.ts";
import { requireOwnPermission } from "./require-known-permission.ts";
import { type Confirmed, type Staleness, orgKey } from "./subject-orgs.ts";

const permissionToCheck = "iam.access.check";

export interface Asking {
  readonly caller: Caller;
  readonly slices: CallSlices;
  readonly signal: AbortSignal;
  readonly context: HandlerContext;
}

export const askingOf = (context: HandlerContext): Asking => ({
  caller: callerOf(context),
  slices: slicesOf(context),
  signal: context.signal,
  context,
});

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
  readonly pathField: string;
  readonly attributes: CheckRequest["attributes"];
  readonly staleness: Staleness | undefined;
  /** The revision that the answer must include, and the field of the request that holds it. */
  readonly revision: string;
  readonly revisionField: string;
  /** Undefined for now. */
  readonly asOf: AsOf | undefined;
}

/** The org of a subject, as of now or as it was. */
type ConfirmedOrg = Confirmed & { readonly past?: PastOrg };

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
  return async (asking, request) => {
    const { slices } = asking;
    const asked = readCheck(request, "", readParts);
    const confirmed = await confirm(asking, asked);
    checkPermission(asked, confirmed);
    if (asked.revision !== "") await checkRevision(asked, confirmed);
    const slice = slices.next();
    if (slice !== undefined) await slice;
    return answer(asking, asked, confirmed, createRequestConditions());
  };
}

/** Creates the method that checks many requests. It parses each path once, confirms each org once, and awaits few answers. */
export function createCheckAccessOfAll(dependencies: AccessDependencies): CheckAccessOfAll {
  const { confirm, checkPermission, placeOf, checkRevision, answer } = createSteps(dependencies);
  return async (asking, requests) => {
    const { slices } = asking;
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
    requireOneMoment(all);
    const confirmed = await confirmOnce(all, (asked) => confirm(asking, asked));
    // Come before the first decision, whose answer an error would discard.
    for (const asked of all) {
      checkPermission(asked, confirmed.get(confirmKey(asked)));
      placeOf(asked, confirmed.get(confirmKey(asked)));
    }
    const bounded = all.filter(({ revision }) => revision !== "");
    await Promise.all(bounded.map((asked) => checkRevision(asked, confirmed.get(confirmKey(asked)))));
    const conditions = createRequestConditions();
    const answers: CheckResponse[] = [];
    for (const asked of all) {
      const slice = slices.next();
      if (slice !== undefined) await slice;
      const each = answer(asking, asked, confirmed.get(confirmKey(asked)), conditions);
      // Nobody waits for it yet, or ever if another one fails before: a rejection that nobody handles would end the process.
      if (!isReady(each)) each.catch(() => undefined);
      answers.push(each);
    }
    return answers.every(isReady) ? answers : Promise.all(answers.map((each) => Promise.resolve(each)));
  };
}

function createSteps(dependencies: AccessDependencies) {
  const { evaluator, subjectOrgs, requireReached, openPastOrg } = dependencies;
  /** Returns the subject's org; undefined if the caller must not learn anything about it. */
  const confirm = (asking: Asking, { subject, staleness, asOf }: Asked): Promise<ConfirmedOrg | undefined> => {
    const confirming = subjectOrgs.confirm(asking.caller, subject.org, permissionToCheck, staleness);
    if (asOf === undefined) return confirming;
    return confirming.then((confirmed) => confirmed && openPastOrg(asking, confirmed, permissionToCheck, asOf));
  };

  const checkPermission = ({ permission, permissionField }: Asked, confirmed: Confirmed | undefined): void => {
    if (confirmed !== undefined) requireOwnPermission(dependencies, confirmed.snapshot, permission, permissionField);
  };

  /** Returns the path of the resource, which the past of an org knows by ids. */
  const placeOf = ({ path, pathField, subject }: Asked, confirmed: ConfirmedOrg | undefined): TargetPath => {
    confirmed?.past?.requireKept(subject);
    return confirmed?.past?.locate(path, pathField) ?? path;
  };

  const checkRevision = async ({ revision, revisionField }: Asked, confirmed: Confirmed | undefined): Promise<void> => {
    if (confirmed !== undefined) await requireReached(confirmed.snapshot, revision, revisionField);
  };

  const answer = (
    { caller }: Asking,
    asked: Asked,
    confirmed: ConfirmedOrg | undefined,
    conditions: RequestConditions,
  ): CheckResponse => {
    // A subject that does not exist is denied, so that callers without further permissions do not learn that it does not exist.
    if (confirmed === undefined) return respond(false, "", caller.staleSince);
    const { snapshot, now, staleSince } = confirmed;
    // The revision before the decision. The snapshot may be newer after it.
    const { revision } = snapshot;
    const path = placeOf(asked, confirmed);
    const subject = findNow(snapshot, asked.subject);
    if (subject === undefined) return respond(false, revision, staleSince);
    const check: CheckRequest = { subject, attributes: asked.attributes, now, counted: "all", conditions };
    // Whoever asks about now acts on the answer. What was allowed is past.
    const target =
      asked.asOf === undefined
        ? evaluator.resolveChecked(snapshot, check, asked.permission, path)
        : evaluator.resolveHeld(snapshot, check, asked.permission, path);
    if (target instanceof Promise) return target.then((found) => respond(found !== undefined, revision, staleSince));
    return respond(target !== undefined, revision, staleSince);
  };

  return { confirm, checkPermission, placeOf, checkRevision, answer };
}

/** @param prefix goes before the names of fields in errors. */
function readCheck(request: CheckAccessRequest, prefix: string, read: ReadParts): Asked {
  return {
    subject: read.subject(request.subjectPath, `${prefix}subject_path`),
    permission: request.permission,
    permissionField: `${prefix}permission`,
    path: read.path(request.resourcePath, `${prefix}resource_path`),
    pathField: `${prefix}resource_path`,
    attributes: read.attributes(request.context, `${prefix}context`),
    staleness: readStaleness(request.maxStaleness, request.revision),
    revision: request.revision,
    revisionField: `${prefix}revision`,
    asOf: readAsOf(request, prefix),
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
function confirmKey({ subject, staleness, asOf }: Asked): string {
  const name = asOf === undefined ? orgKey(subject.org) : `${orgKey(subject.org)} as of ${asOfKey(asOf)}`;
  return staleness === undefined ? name : `${name} ${staleness.maxMs} ${staleness.revision}`;
}

/** An org is read for each moment, so a batch asks about one. @throws ServiceError FIELD_INVALID */
function requireOneMoment(all: readonly Asked[]): void {
  const past = all.filter((asked) => asked.asOf !== undefined);
  const [first] = past;
  const other = past.find((asked) => first !== undefined && confirmKey(asked) !== confirmKey(first));
  if (other?.asOf === undefined) return;
  const description = "must be the same, for subjects of the same Org, in all checks that have it";
  throw invalidField(other.asOf.field, description, "as_of");
}

async function confirmOnce(
  all: readonly Asked[],
  confirm: (asked: Asked) => Promise<ConfirmedOrg | undefined>,
): Promise<ReadonlyMap<string, ConfirmedOrg | undefined>> {
  const byKey = new Map(all.map((asked) => [confirmKey(asked), asked]));
  const confirmed = await Promise.all([...byKey.values()].map(confirm));
  return new Map([...byKey.keys()].map((key, index) => [key, confirmed[index]]));
}

function isReady(answer: CheckResponse): answer is CheckAccessResponse {
  return !(answer instanceof Promise);
}

function respond(allowed: boolean, revision: string, staleSince: number | undefined): CheckAccessResponse {
  const since = staleSince !== undefined && { staleSince: timestampFromMs(Math.floor(staleSince)) };
  return create(CheckAccessResponseSchema, { allowed, revision, ...since });
}
