import { create } from "@bufbuild/protobuf";
import {
  type CheckAccessRequest,
  type CheckAccessResponse,
  CheckAccessResponseSchema,
} from "../../gen/iam/v1alpha/access_pb.ts";
import type { Question } from "../access/evaluation/question.ts";
import { type TargetPath, parseTargetPath } from "../access/evaluation/target-path.ts";
import type { Caller } from "../identity/caller.ts";
import type { AccessDependencies } from "./dependencies.ts";
import { createMayAskAbout } from "./may-ask-about.ts";
import {
  type NamedSubject,
  findNow,
  readAttributes,
  readStaleness,
  readSubject,
  requireReached,
} from "./read-question.ts";
import { type Confirmed, type Staleness, orgKey } from "./subject-orgs.ts";

export type CheckAccess = (caller: Caller, request: CheckAccessRequest) => Promise<CheckAccessResponse>;

/** Answers in the order of the questions. */
export type CheckAccessOfAll = (
  caller: Caller,
  requests: readonly CheckAccessRequest[],
) => Promise<CheckAccessResponse[]>;

/** A request that was understood. */
interface Asked {
  readonly subject: NamedSubject;
  readonly permission: string;
  readonly path: TargetPath;
  readonly attributes: Question["attributes"];
  readonly staleness: Staleness | undefined;
  /** The least revision to answer at, and the field that says so. */
  readonly revision: string;
  readonly revisionField: string;
}

type Answer = CheckAccessResponse | Promise<CheckAccessResponse>;

/** Whether a subject may do something. */
export function createCheckAccess(dependencies: AccessDependencies): CheckAccess {
  const { confirm, answer } = createSteps(dependencies);
  return async (caller, request) => {
    const asked = readQuestion(request, "", readSubject, parseTargetPath);
    const confirmed = await confirm(caller, asked);
    checkRevision(asked, confirmed);
    return answer(asked, confirmed);
  };
}

/** The same for many questions: each path is read once, each org is confirmed once, and few answers have to be waited for. */
export function createCheckAccessOfAll(dependencies: AccessDependencies): CheckAccessOfAll {
  const { confirm, answer } = createSteps(dependencies);
  return async (caller, requests) => {
    const [subjectOf, pathOf] = [onceForEach(readSubject), onceForEach(parseTargetPath)];
    const all = requests.map((request, index) => readQuestion(request, `checks[${index}].`, subjectOf, pathOf));
    const confirmed = await confirmOnce(all, (asked) => confirm(caller, asked));
    // Before a decision is begun whose answer would be dropped.
    for (const asked of all) checkRevision(asked, confirmed.get(confirmKey(asked)));
    const answers = all.map((asked) => answer(asked, confirmed.get(confirmKey(asked))));
    return answers.every(isReady) ? answers : Promise.all(answers.map((each) => Promise.resolve(each)));
  };
}

function createSteps(dependencies: AccessDependencies) {
  const { evaluator, subjectOrgs } = dependencies;
  const mayAskAbout = createMayAskAbout(dependencies);

  /** The subject's org; undefined where there is nothing to tell the caller. */
  const confirm = async (caller: Caller, { subject, staleness }: Asked): Promise<Confirmed | undefined> => {
    const mayAsk = await mayAskAbout(caller, subject.org, "iam.access.check");
    return mayAsk ? subjectOrgs.confirm(caller, subject.org, staleness) : undefined;
  };

  const answer = (asked: Asked, confirmed: Confirmed | undefined): Answer => {
    // A subject that is not there may do nothing. That it is not there does not show to a caller that may only ask.
    if (confirmed === undefined) return respond(false, "0");
    const { snapshot, now } = confirmed;
    // That of before the decision, which may be newer.
    const { revision } = snapshot;
    const subject = findNow(snapshot, asked.subject);
    if (subject === undefined) return respond(false, revision);
    const question = { subject, attributes: asked.attributes, now };
    const target = evaluator.resolveAllowed(snapshot, question, asked.permission, asked.path);
    if (target instanceof Promise) return target.then((found) => respond(found !== undefined, revision));
    return respond(target !== undefined, revision);
  };

  return { confirm, answer };
}

/** @throws ServiceError FIELD_INVALID */
function checkRevision({ revision, revisionField }: Asked, confirmed: Confirmed | undefined): void {
  if (confirmed !== undefined) requireReached(confirmed.snapshot, revision, revisionField);
}

/** @param prefix goes before the fields' names in errors. */
function readQuestion(
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

/** What of a question decides about how its subject's org is confirmed. */
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
