import type { TargetPath } from "../access/evaluation/target-path.ts";
import { type ErrorReason, ServiceError } from "../errors/service-error.ts";
import type { EventCaller, NoteAccess } from "../events/access-events/access-event.ts";
import { formatReferences } from "../paths/format-path.ts";
import { patterns } from "../paths/patterns.ts";
import { runSteps } from "../scheduling/steps.ts";
import { type RequestFields, readAnyPaths, readTarget } from "./authorisation/read-paths.ts";
import { clientAddressKey } from "./call-origin.ts";
import type { MethodRules } from "./method-rules.ts";
import type { MethodTable } from "./method-table.ts";
import type { NoteRefusal } from "./note-refusal.ts";
import { findCallerAtGate } from "./request-gate.ts";
import { requestIdKey } from "./request-id-key.ts";

/** The reasons that say that a caller may not do something. */
const refusals: ReadonlySet<ErrorReason> = new Set([
  "ADDRESS_NOT_ALLOWED",
  "GRANT_EXCEEDS_OWN",
  "PERMISSION_DENIED",
  "REVOKE_EXCEEDS_OWN",
  "TOKEN_INVALID",
]);

/**
 * Creates the function that notes refused calls. It looks at nothing of a call that is not refused. Of whom nothing is known, and who asks for
 * nothing in an org, is noted nowhere.
 */
export function createNoteRefusal(table: MethodTable, note: NoteAccess): NoteRefusal {
  return (thrown, { method, values, message }) => {
    if (!(thrown instanceof ServiceError) || !refusals.has(thrown.reason)) return;
    const rules = table.get(method);
    const caller = findCallerAtGate(values) ?? callerOf(thrown);
    const asked = rules && message !== undefined ? readAsked(rules, message as RequestFields) : undefined;
    const [top] = asked?.pattern[0] === patterns.Org[0] ? asked.references : [];
    const org = top === undefined || top.by === "any" ? undefined : top;
    if (caller === undefined && org === undefined) return;
    const { permission, ended_by: endedBy } = thrown.metadata;
    note({
      kind: "CALL_REFUSED",
      caller,
      org,
      method: rules?.name ?? `${method.parent.typeName}/${method.name}`,
      resourcePath: asked === undefined || org === undefined ? "" : formatReferences(asked.pattern, asked.references),
      reason: thrown.reason,
      reasonDetail: permission ?? endedBy ?? "",
      remoteAddress: values.get(clientAddressKey),
      requestId: values.get(requestIdKey),
    });
  };
}

function callerOf({ concerns }: ServiceError): EventCaller | undefined {
  return concerns?.member && { orgId: concerns.orgId, ...concerns.member };
}

/** Returns the path that a request names; undefined if it names none, several, or what is no path. */
function readAsked({ target, anyPath }: MethodRules, message: RequestFields): TargetPath | undefined {
  try {
    if (anyPath === undefined) return target && readTarget(target, message);
    if (anyPath.listName !== undefined && (message[anyPath.listName] as unknown[]).length > 1) return undefined;
    return runSteps(readAnyPaths(anyPath, message))[0];
  } catch (error) {
    if (error instanceof ServiceError) return undefined;
    throw error;
  }
}
