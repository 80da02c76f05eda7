import { type JsonObject, create } from "@bufbuild/protobuf";
import {
  type Action,
  type EvaluateAllRequest,
  type EvaluateAllResponse,
  EvaluateAllResponseSchema,
  type EvaluateResponse,
  EvaluateResponseSchema,
  type Resource,
  type Subject,
} from "../../../../gen/authzen/v1/authorization_api_pb.ts";
import { CheckAccessRequestSchema } from "../../../../gen/iam/v1alpha/access_pb.ts";
import { ServiceError, invalidFields } from "../../../errors/service-error.ts";
import { type RequestConditions, createRequestConditions } from "../../../access/evaluation/condition-budget.ts";
import type { Caller } from "../../../identity/caller.ts";
import type { CheckAccess } from "../check-access.ts";
import { contextOf, resourcePathOf, subjectPathOf } from "./read-entities.ts";

interface Evaluation {
  readonly subject?: Subject | undefined;
  readonly action?: Action | undefined;
  readonly resource?: Resource | undefined;
  readonly context?: JsonObject | undefined;
}

/**
 * Answers one evaluation.
 *
 * @param conditions those of the request, if it has several evaluations.
 * @throws ServiceError FIELD_INVALID, PATH_INVALID or LIMIT_EXCEEDED
 */
export type Evaluate = (caller: Caller, evaluation: Evaluation, conditions?: RequestConditions) => Promise<boolean>;

export function createEvaluate(check: CheckAccess): Evaluate {
  return async (caller, evaluation, conditions) => {
    const { subject, action, resource } = evaluation;
    if (subject === undefined || action === undefined || resource === undefined) {
      const missing = (["subject", "action", "resource"] as const).filter((field) => evaluation[field] === undefined);
      throw invalidFields(missing.map((field) => ({ field, description: "is required", rule: "required" })));
    }
    const subjectPath = subjectPathOf(subject, "subject");
    const resourcePath = resourcePathOf(resource, "resource");
    if (subjectPath === undefined) return false;
    const asked = { subjectPath, permission: action.name, resourcePath, context: contextOf(evaluation) };
    const { allowed } = await check(caller, create(CheckAccessRequestSchema, asked), conditions);
    return allowed;
  };
}

/** Few enough that others need not wait long, and enough to look up what they need together. */
const atOnce = 10;

/**
 * Answers several evaluations. An invalid one is denied, with the reason in its context.
 *
 * @param renewTurn takes a turn for the next of them; returns undefined if they may be answered at once.
 */
export async function evaluateAll(
  evaluate: Evaluate,
  renewTurn: () => Promise<void> | undefined,
  caller: Caller,
  { evaluations, options, ...defaults }: EvaluateAllRequest,
): Promise<EvaluateAllResponse> {
  if (evaluations.length === 0) {
    return create(EvaluateAllResponseSchema, { decision: await evaluate(caller, defaults) });
  }
  const conditions = createRequestConditions();
  const answers: EvaluateResponse[] = [];
  const answerOne = ({ subject, action, resource, context }: Evaluation): Promise<EvaluateResponse> => {
    const evaluation = {
      subject: subject ?? defaults.subject,
      action: action ?? defaults.action,
      resource: resource ?? defaults.resource,
      context: context ?? defaults.context,
    };
    return answer((given) => evaluate(caller, given, conditions), evaluation);
  };
  for (let first = 0; first < evaluations.length; first += atOnce) {
    if (first > 0) await renewTurn();
    answers.push(...(await Promise.all(evaluations.slice(first, first + atOnce).map(answerOne))));
  }
  const last = lastAnswer(answers, options?.evaluationsSemantic);
  return create(EvaluateAllResponseSchema, { evaluations: answers.slice(0, last + 1) });
}

async function answer(
  evaluate: (evaluation: Evaluation) => Promise<boolean>,
  evaluation: Evaluation,
): Promise<EvaluateResponse> {
  try {
    return create(EvaluateResponseSchema, { decision: await evaluate(evaluation) });
  } catch (error) {
    if (!(error instanceof ServiceError) || !["FIELD_INVALID", "PATH_INVALID"].includes(error.reason)) throw error;
    const context = { error: { status: 400, message: error.message } };
    return create(EvaluateResponseSchema, { decision: false, context });
  }
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
