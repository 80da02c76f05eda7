import { create } from "@bufbuild/protobuf";
import {
  type CheckAccessRequest,
  type CheckAccessResponse,
  CheckAccessResponseSchema,
} from "../../../gen/iam/v1alpha/access_pb.ts";
import type { CheckRequest } from "../../access/evaluation/check-request.ts";
import { type TargetPath, parseTargetPath } from "../../access/evaluation/target-path.ts";
import type { Caller } from "../../identity/caller.ts";
import type { AccessDependencies } from "./dependencies.ts";
import { type NamedSubject, findNow, readAttributes, readStaleness, readSubject } from "./read-check-request.ts";
import { type Confirmed, type Staleness, orgKey } from "./subject-orgs.ts";

export type CheckAccess = (caller: Caller, request: CheckAccessRequest) => Promise<CheckAccessResponse>;

/** Returns the answers in the order of the requests. */
export type CheckAccessOfAll = (
  caller: Caller,
  requests: readonly CheckAccessRequest[],
) => Promise<CheckAccessResponse[]>;

/** A parsed request. */
interface Asked {
  readonly subject: NamedSubject;
  readonly permission: string;
  readonly path: TargetPath;
  readonly attributes: CheckRequest["attributes"];
  readonly staleness: Staleness | undefined;
  /** The revision that the answer must include, and the field of the request that holds it. */
  readonly revision: string;
  readonly revisionField: string;
}

type Answer = CheckAccessResponse | Promise<CheckAccessResponse>;

/** Creates the method that checks whether a subject has a permission on a resource. */
export function createCheckAccess(dependencies: AccessDependencies): CheckAccess {
  const { confirm, checkRevision, answer } = createSteps(dependencies);
  return async (caller, request) => {
    const asked = readCheck(request, "", readSubject, parseTargetPath);
    const confirmed = await confirm(caller, asked);
    if (asked.revision !== "") await checkRevision(asked, confirmed);
    return answer(asked, confirmed);
  };
}

/** Creates the method that checks many requests. It parses each path once, confirms each org once, and awaits few answers. */
export function createCheckAccessOfAll(dependencies: AccessDependencies): CheckAccessOfAll {
  const { confirm, checkRevision, answer } = createSteps(dependencies);
  return async (caller, requests) => {
    const [subjectOf, pathOf] = [onceForEach(readSubject), onceForEach(parseTargetPath)];
    const all = requests.map((request, index) => readCheck(request, `checks[${index}].`, subjectOf, pathOf));
    const confirmed = await confirmOnce(all, (asked) => confirm(caller, asked));
    // Comes before the first decision, whose answer an error would discard.
    const bounded = all.filter(({ revision }) => revision !== "");
    await Promise.all(bounded.map((asked) => checkRevision(asked, confirmed.get(confirmKey(asked)))));
    const answers = all.map((asked) => answer(asked, confirmed.get(confirmKey(asked))));
    return answers.every(isReady) ? answers : Promise.all(answers.map((each) => Promise.resolve(each)));
  };
}

function createSteps(dependencies: AccessDependencies) {
  const { evaluator, subjectOrgs, requireReached } = dependencies;

  /** Returns the subject's org; undefined if the caller must not learn anything about it. */
  const confirm = (caller: Caller, { subject, staleness }: Asked): Promise<Confirmed | undefined> =>
    subjectOrgs.confirm(caller, subject.org, "iam.access.check", staleness);

  const checkRevision = async ({ revision, revisionField }: Asked, confirmed: Confirmed | undefined): Promise<void> => {
    if (confirmed !== undefined) await requireReached(confirmed.snapshot, revision, revisionField);
  };

  const answer = (asked: Asked, confirmed: Confirmed | undefined): Answer => {
    // A subject that does not exist is denied, so that callers without further permissions do not learn that it does not exist.
    if (confirmed === undefined) return respond(false, "");
    const { snapshot, now } = confirmed;
    // The revision before the decision. The snapshot may be newer after it.
    const { revision } = snapshot;
    const subject = findNow(snapshot, asked.subject);
    if (subject === undefined) return respond(false, revision);
    const check: CheckRequest = { subject, attributes: asked.attributes, now, counted: "all" };
    const target = evaluator.resolveAllowed(snapshot, check, asked.permission, asked.path);
    if (target instanceof Promise) return target.then((found) => respond(found !== undefined, revision));
    return respond(target !== undefined, revision);
  };

  return { confirm, checkRevision, answer };
}

/**
 * Parses a request.
 *
 * @param prefix goes before the names of fields in errors.
 */
function readCheck(
  request: CheckAccessRequest,
  prefix: string,
  subjectOf: typeof readSubject,
  pathOf: typeof parseTargetPath,
): Asked {
  return {
    subject: subjectOf(request.subjectPath, `${prefix}subject_path`),
    permission: request.permission,
    path: pathOf(request.resourcePath, `${prefix}resource_path`),
    attributes: readAttributes(request.context, `${prefix}context`),
    staleness: readStaleness(request.maxStaleness, request.revision),
    revision: request.revision,
    revisionField: `${prefix}revision`,
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

function isReady(answer: Answer): answer is CheckAccessResponse {
  return !(answer instanceof Promise);
}

function respond(allowed: boolean, revision: string): CheckAccessResponse {
  return create(CheckAccessResponseSchema, { allowed, revision });
}
