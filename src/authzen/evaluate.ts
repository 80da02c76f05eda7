import { type JsonObject, type MessageInitShape, create } from "@bufbuild/protobuf";
import {
  type Action,
  type EvaluateAllRequest,
  type EvaluateAllResponse,
  EvaluateAllResponseSchema,
  type EvaluateResponse,
  EvaluateResponseSchema,
  type Resource,
  type Subject,
} from "../../gen/authzen/v1/authorization_api_pb.ts";
import type { CheckAccessRequestSchema } from "../../gen/iam/v1alpha/access_pb.ts";
import { isPermission } from "../access/engine/tables/permission-class.ts";
import { ServiceError, invalidFields } from "../errors/service-error.ts";
import { readAttributes } from "../iam/access-checks/read-check-request.ts";
import { findUnknownPermission } from "../iam/roles/find-unknown-permission.ts";
import type { CallSlices } from "../scheduling/call-slices.ts";
import { contextOf, resourcePathOf, subjectPathOf } from "./read-entities.ts";

interface Evaluation {
  readonly subject?: Subject | undefined;
  readonly action?: Action | undefined;
  readonly resource?: Resource | undefined;
  readonly context?: JsonObject | undefined;
}

type Check = MessageInitShape<typeof CheckAccessRequestSchema>;

/** Returns for each check whether it is allowed. */
type CheckAll = (checks: Check[]) => Promise<readonly boolean[]>;

/**
 * Returns the check that an evaluation stands for, or else the answer to one that is denied whatever the roles are, because there is no
 * such type of subjects, or no such permission. The standard has no error for them, so the context says it.
 *
 * @throws ServiceError FIELD_INVALID or PATH_INVALID
 */
export function toCheck(evaluation: Evaluation, knownPermissions: readonly string[]): Check | EvaluateResponse {
  const { subject, action, resource } = evaluation;
  if (subject === undefined || action === undefined || resource === undefined) {
    const missing = (["subject", "action", "resource"] as const).filter((field) => evaluation[field] === undefined);
    throw invalidFields(missing.map((field) => ({ field, description: "is required", rule: "required" })));
  }
  const subjectPath = subjectPathOf(subject, "subject");
  const resourcePath = resourcePathOf(resource, "resource");
  if (subjectPath === undefined) return deny("subject.type: must be member or group");
  const context = readAttributes(contextOf(evaluation), "context");
  const problem = findActionProblem(action.name, knownPermissions);
  if (problem !== undefined) return deny(`action.name: ${problem}`);
  return { subjectPath, permission: action.name, resourcePath, context };
}

/** Returns why nobody can hold an action; undefined if somebody may. */
export function findActionProblem(name: string, knownPermissions: readonly string[]): string | undefined {
  if (!isPermission(name)) return "must be a permission of the form area.collection.verb";
  return findUnknownPermission(name, knownPermissions);
}

function deny(message: string): EvaluateResponse {
  return create(EvaluateResponseSchema, { decision: false, context: { error: { status: 400, message } } });
}

/** Answers several evaluations. An invalid one is denied, with the reason in its context. */
export async function evaluateAll(
  checkAll: CheckAll,
  slices: CallSlices,
  { evaluations, options, ...defaults }: EvaluateAllRequest,
  knownPermissions: readonly string[],
): Promise<EvaluateAllResponse> {
  if (evaluations.length === 0) {
    const check = toCheck(defaults, knownPermissions);
    if (isAnswer(check)) return create(EvaluateAllResponseSchema, { decision: false });
    const [decision = false] = await checkAll([check]);
    return create(EvaluateAllResponseSchema, { decision });
  }
  const asked: (Check | EvaluateResponse)[] = [];
  for (const { subject, action, resource, context } of evaluations) {
    const slice = slices.next();
    if (slice !== undefined) await slice;
    const evaluation = {
      subject: subject ?? defaults.subject,
      action: action ?? defaults.action,
      resource: resource ?? defaults.resource,
      context: context ?? defaults.context,
    };
    asked.push(toCheckOrAnswer(evaluation, knownPermissions));
  }
  const checks = asked.filter((each) => !isAnswer(each));
  const allowed = (checks.length === 0 ? [] : await checkAll(checks)).values();
  const answers = asked.map((each) =>
    isAnswer(each) ? each : create(EvaluateResponseSchema, { decision: allowed.next().value === true }),
  );
  const last = lastAnswer(answers, options?.evaluationsSemantic);
  return create(EvaluateAllResponseSchema, { evaluations: answers.slice(0, last + 1) });
}

function toCheckOrAnswer(evaluation: Evaluation, knownPermissions: readonly string[]): Check | EvaluateResponse {
  try {
    return toCheck(evaluation, knownPermissions);
  } catch (error) {
    if (!(error instanceof ServiceError) || !["FIELD_INVALID", "PATH_INVALID"].includes(error.reason)) throw error;
    return deny(error.message);
  }
}

export function isAnswer(each: Check | EvaluateResponse): each is EvaluateResponse {
  return "decision" in each;
}

/**
 * Returns the index of the last answer to send: the first one that ends the evaluations by the given semantic, or the last of
 * all.
 */
function lastAnswer(answers: readonly EvaluateResponse[], semantic: string | undefined): number {
  const ends = semantic === "deny_on_first_deny" ? false : semantic === "permit_on_first_permit" ? true : undefined;
  const found = answers.findIndex(({ decision }) => decision === ends);
  return found === -1 ? answers.length - 1 : found;
}
