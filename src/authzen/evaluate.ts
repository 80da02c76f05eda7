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
 * Returns the check that an evaluation stands for; undefined if it is denied whatever the roles are, because the type of its subject is
 * not known, or its action is no permission.
 *
 * @throws ServiceError FIELD_INVALID or PATH_INVALID
 */
export function toCheck(evaluation: Evaluation): Check | undefined {
  const { subject, action, resource } = evaluation;
  if (subject === undefined || action === undefined || resource === undefined) {
    const missing = (["subject", "action", "resource"] as const).filter((field) => evaluation[field] === undefined);
    throw invalidFields(missing.map((field) => ({ field, description: "is required", rule: "required" })));
  }
  const subjectPath = subjectPathOf(subject, "subject");
  const resourcePath = resourcePathOf(resource, "resource");
  if (subjectPath === undefined) return undefined;
  const context = readAttributes(contextOf(evaluation), "context");
  return isPermission(action.name) ? { subjectPath, permission: action.name, resourcePath, context } : undefined;
}

/** Answers several evaluations. An invalid one is denied, with the reason in its context. */
export async function evaluateAll(
  checkAll: CheckAll,
  slices: CallSlices,
  { evaluations, options, ...defaults }: EvaluateAllRequest,
): Promise<EvaluateAllResponse> {
  if (evaluations.length === 0) {
    const check = toCheck(defaults);
    const [decision = false] = check === undefined ? [] : await checkAll([check]);
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
    asked.push(toCheckOrAnswer(evaluation));
  }
  const checks = asked.filter((each) => !isAnswer(each));
  const allowed = (checks.length === 0 ? [] : await checkAll(checks)).values();
  const answers = asked.map((each) =>
    isAnswer(each) ? each : create(EvaluateResponseSchema, { decision: allowed.next().value === true }),
  );
  const last = lastAnswer(answers, options?.evaluationsSemantic);
  return create(EvaluateAllResponseSchema, { evaluations: answers.slice(0, last + 1) });
}

function toCheckOrAnswer(evaluation: Evaluation): Check | EvaluateResponse {
  try {
    return toCheck(evaluation) ?? create(EvaluateResponseSchema, { decision: false });
  } catch (error) {
    if (!(error instanceof ServiceError) || !["FIELD_INVALID", "PATH_INVALID"].includes(error.reason)) throw error;
    const context = { error: { status: 400, message: error.message } };
    return create(EvaluateResponseSchema, { decision: false, context });
  }
}

function isAnswer(each: Check | EvaluateResponse): each is EvaluateResponse {
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
