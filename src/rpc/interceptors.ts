// The steps of every call before its handler, for all protocols, in this order: authentication (at the gate, before the body is
// read), parsing of the path, authorisation, and only then validation of the request (AIP-211). Callers without permission
// learn nothing about their request.
import type { Interceptor, UnaryRequest } from "@connectrpc/connect";
import type { Authorise, Authorised, Requirement } from "../access/evaluation/authorise.ts";
import { setCall } from "../access/evaluation/call.ts";
import type { ConfirmOf, Decision } from "../access/evaluation/confirm-author.ts";
import type { Caller } from "../identity/caller.ts";
import type { TypePermissions } from "../resources/type-permissions.ts";
import { type PermissionsOfItem, authoriseItems } from "./authorisation/authorise-items.ts";
import { authoriseParents, isOverParents } from "./authorisation/authorise-parents.ts";
import { decideInTime } from "./authorisation/authorise-past.ts";
import { authoriseTyped } from "./authorisation/authorise-typed.ts";
import { type ResolvedTarget, onPlatform } from "../access/evaluation/resolved-target.ts";
import { unlimited } from "../access/evaluation/visibility.ts";
import type { SupportRead } from "../access/evaluation/support-access.ts";
import type { RecordSupportUse } from "../events/changes/record-support-use.ts";
import type { AnyPath } from "../paths/parse-path.ts";
import { joinedOf } from "../standard-methods/write/joined-write.ts";
import { startValidation, validateMessage } from "../validation/validate-message.ts";
import type { ExplainError } from "./explain-error.ts";
import { readOrigin } from "./call-origin.ts";
import { callerWithBody } from "./request-gate.ts";
import type { MethodRules } from "./method-rules.ts";
import type { MethodTable } from "./method-table.ts";
import type { NoteRefusal } from "./note-refusal.ts";
import { orgsOfSubjects } from "./authorisation/orgs-of-subjects.ts";
import { type RequestFields, readAnyPaths, readTarget } from "./authorisation/read-paths.ts";
import { runSteps } from "../scheduling/steps.ts";
import type { CallSlices } from "../scheduling/call-slices.ts";
import type { TimeSlices } from "../scheduling/time-slices.ts";
import { mapError, onOneMessage, streamedMessageKey } from "./streamed-calls.ts";

export function createErrorInterceptor(explain: ExplainError, noteRefusal: NoteRefusal): Interceptor {
  return (next) => async (request) => {
    const { method, signal, contextValues: values } = request;
    const explained = (thrown: unknown) => explain(thrown, { method, signal, values });
    try {
      const response = await next(request);
      return response.stream ? { ...response, message: mapError(response.message, explained) } : response;
    } catch (thrown) {
      const message = request.stream ? values.get(streamedMessageKey) : request.message;
      noteRefusal(thrown, { method, values, message });
      throw explained(thrown);
    }
  };
}

export function createCallInterceptor(
  table: MethodTable,
  authorise: Authorise,
  confirmOf: ConfirmOf,
  typePermissions: TypePermissions,
  timeSlices: TimeSlices,
  recordSupportUse: RecordSupportUse,
): Interceptor {
  return onOneMessage((next) => async (request) => {
    const rules = table.get(request.method);
    if (rules === undefined) throw new Error(`${request.method.name} is not in the method table`);
    if (rules.unauthenticated) {
      validateMessage(request.method.input, request.message);
      return next(request);
    }
    const caller = await callerWithBody(request.contextValues);
    const message = request.message as unknown as RequestFields;
    const { permission, typedPermission, listVisibility, target, itemPatterns, anyPath } = rules;
    const slices = slicesFor(timeSlices, caller, rules, request);
    const decisions: Decision[] = [];
    const supported = collectSupport((reads) => recordSupportUse(request, reads));
    const requiresAny = (permission ?? typedPermission) !== undefined;
    const ofItems =
      itemPatterns !== undefined && requiresAny ? await authorise.authoriserOf(caller, slices) : undefined;
    const decide = async (requirement: Requirement, path: AnyPath): Promise<Authorised> => {
      const decided = await (ofItems?.decide(requirement, path) ?? authorise(caller, requirement, path, slices));
      decisions.push({ requirement, path: decided.target });
      supported.add(decided.support);
      return decided;
    };
    const decideItems = async (permissionsOf: PermissionsOfItem, parent: ResolvedTarget): Promise<void> => {
      if (ofItems === undefined || itemPatterns === undefined) return;
      const batch = { patterns: itemPatterns, paths: message["paths"] as readonly string[], reads: rules.reads };
      const items = await authoriseItems(ofItems, permissionsOf, parent, batch);
      for (const [index, decision] of decisions.entries()) {
        const { permission: given } = decision.requirement;
        decisions[index] = { ...decision, items: items.filter(({ requirement }) => requirement.permission === given) };
      }
    };
    let authorised = untargeted;
    if (permission !== undefined && anyPath !== undefined) {
      const steps = readAnyPaths(anyPath, message);
      // The steps of one path take less time than a promise.
      const paths = anyPath.listName === undefined ? runSteps(steps) : await slices.run(steps);
      supported.add(...(await authorise.all(caller, permission, { paths, orgs: orgsOf(message) }, slices)));
    } else if (permission !== undefined) {
      const path = readTarget(target, message);
      if (isOverParents(path, message)) {
        const authoriser = await authorise.authoriserOf(caller, slices);
        const onParents = await authoriseParents(authoriser, permission, path, message);
        authorised = onParents.authorised;
        decisions.push(...onParents.decisions);
      } else {
        authorised = await decideInTime(decide, rules, { permission, listVisibility }, path, message);
        await decideItems(() => [permission], authorised.target);
      }
    } else if (typedPermission !== undefined) {
      const visibility = (path: AnyPath) => authorise.visibility(caller, path, slices);
      authorised = await authoriseTyped(typePermissions, { decide, decideItems, visibility }, rules, message);
    } else if (target !== undefined) {
      authorised = { ...untargeted, target: { ...onPlatform, ...readTarget(target, message) } };
    }
    await requireMayCreate(decide, rules, authorised.target, message);
    const validation = startValidation(request.method.input, request.message);
    if (validation !== undefined) await slices.run(validation);
    const confirm = confirmOf(caller, decisions, joinedOf(request.contextValues) !== undefined);
    const origin = () => readOrigin(request.header, request.contextValues, caller.credentialId);
    setCall(request.contextValues, { caller, method: rules.name, ...authorised, confirm, readOrigin: origin, slices });
    await supported.record(authorised.support);
    return next(request);
  });
}

/** Reads them only for callers for whom they matter. */
const orgsOf = (message: RequestFields) => () => orgsOfSubjects(message);

/** Collects what a call reads with approved requests for support access, as few calls do, and records it. */
function collectSupport(recordAll: (reads: readonly SupportRead[]) => Promise<void>) {
  const reads: SupportRead[] = [];
  const add = (...found: readonly (SupportRead | undefined)[]): void => {
    for (const read of found) if (read !== undefined) reads.push(read);
  };
  const record = (last: SupportRead | undefined): Promise<void> | undefined => {
    add(last);
    return reads.length === 0 ? undefined : recordAll(reads);
  };
  return { add, record };
}

/**
 * A caller who may only update must not create. Whether the resource exists is known only later, in the handler, so the permission to create is
 * required before.
 */
async function requireMayCreate(
  decide: (requirement: Requirement, path: AnyPath) => Promise<Authorised>,
  { createPermission }: MethodRules,
  target: ResolvedTarget,
  message: RequestFields,
): Promise<void> {
  if (createPermission === undefined || message["allowMissing"] !== true) return;
  await decide({ permission: createPermission, listVisibility: "never" }, parentOf(target));
}

/** Returns the slices of a call. One that joins the write of another has the locks of that. */
function slicesFor(
  timeSlices: TimeSlices,
  { orgId }: Caller,
  { length }: MethodRules,
  { contextValues, signal }: Pick<UnaryRequest, "contextValues" | "signal">,
): CallSlices {
  return joinedOf(contextValues) === undefined ? timeSlices.ofCall({ orgId, length, signal }) : timeSlices.ofHolders;
}

/** For methods without a path, for access questions, whose handlers act on no path, and for reads of the catalog, which is in no org. */
const untargeted: Authorised = { target: onPlatform, visible: unlimited };

/** Returns the parent, by the ids on which the call was authorised: names can be reassigned before the handler runs. */
function parentOf({ pattern, references }: ResolvedTarget): AnyPath {
  return { pattern: pattern.slice(0, -1), references: references.slice(0, -1) };
}
